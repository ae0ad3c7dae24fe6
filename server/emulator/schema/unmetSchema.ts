/** Why nothing is written for a schema or a pattern, in a sentence. */
export class UnmetSchema extends Error {}
