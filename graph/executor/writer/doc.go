// Package writer is the one place in Truss that writes child objects.
//
//	rendered object --Prepare--> Desired (ownership, hash)
//	                                |
//	   observer.Item (live) ------> Ensure --> nothing | POST | apply | wait | refuse
//	   inventory.Entry -----------> Delete --> live GET, DELETE with UID
//
// Its rules, each with a test of its name: the first write is a POST, so that
// nothing is adopted by accident; what is ours is proved by a MAC; later
// writes are server-side apply guarded by UID; nothing changed, nothing sent;
// drift is set back where nobody else holds the field by right; scope,
// namespace and reserved metadata are checked here and nowhere later; deletes
// carry a UID precondition from a live read; errors fall in four classes.
package writer
