/** The signed-in person who carries out an action. */
export type Actor = string;
