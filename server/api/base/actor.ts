/** Signed-in person in whose name something is done. */
export type Actor = string;
