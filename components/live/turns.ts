// Former names, until the last user has moved to `beat`.
import { type Beat, createBeat } from "./beat";

export type Turns = Beat;
export const createTurns = createBeat;
export const isOutOfSight = (): boolean => document.hidden;
