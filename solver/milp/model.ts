/** How a row's activity relates to its bound. */
export type Sense = "<=" | ">=" | "=";

export interface Variable {
  readonly name: string;
  /** Finite. */
  readonly lower: number;
  /** May be Infinity. */
  readonly upper: number;
  /** Coefficient in the objective, which is minimised. */
  readonly cost: number;
  /** Whole numbers only; a binary is an integer from 0 to 1. */
  readonly integer: boolean;
}

export interface Term {
  /** Index into `MilpModel.variables`. */
  readonly variable: number;
  readonly coefficient: number;
}

export interface Row {
  readonly name: string;
  /** At most one term per variable. */
  readonly terms: readonly Term[];
  readonly sense: Sense;
  readonly bound: number;
}

/** A mixed-integer linear program: minimise the cost of the variables subject to the rows. Names are unique. */
export interface MilpModel {
  readonly name: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}

/** Objective of a point, by the model. */
export function objectiveOf(model: MilpModel, x: ArrayLike<number>): number {
  return model.variables.reduce((sum, variable, index) => sum + variable.cost * (x[index] ?? 0), 0);
}

/** An engine's point with its integers rounded: engines keep them to a tolerance only. */
export function roundIntegers(model: MilpModel, x: ArrayLike<number>): Float64Array {
  return Float64Array.from(model.variables, ({ integer }, index) => (integer ? Math.round(x[index] ?? 0) : (x[index] ?? 0)));
}
