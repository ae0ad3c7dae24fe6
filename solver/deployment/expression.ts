import type { MilpModel, Row, Sense, Term } from "../milp/model";

/** A linear expression over a model's variables. */
export interface Expression {
  readonly terms: readonly Term[];
  readonly constant: number;
}

/** `expression sense bound` as a row; terms of one variable are merged. */
export function rowOf(name: string, { terms, constant }: Expression, sense: Sense, bound: number): Row {
  return { name, terms: joined(terms), sense, bound: bound - constant };
}

/** The model with this expression, without its constant, as objective, and with more rows. */
export function minimising({ name, variables, rows }: MilpModel, expression: Expression | null, more: readonly Row[] = []): MilpModel {
  const cost = new Float64Array(variables.length);
  for (const { variable, coefficient } of expression?.terms ?? []) cost[variable] = (cost[variable] ?? 0) + coefficient;
  return { name, variables: variables.map((variable, index) => ({ ...variable, cost: cost[index] ?? 0 })), rows: [...rows, ...more] };
}

/** A variable times a coefficient. */
export const variableOf = (variable: number, coefficient = 1): Expression => ({ terms: [{ variable, coefficient }], constant: 0 });

export const evaluate = ({ terms, constant }: Expression, x: ArrayLike<number>): number =>
  terms.reduce((sum, { variable, coefficient }) => sum + coefficient * (x[variable] ?? 0), constant);

export const sumOf = (expressions: readonly Expression[]): Expression => ({
  terms: expressions.flatMap(({ terms }) => terms),
  constant: expressions.reduce((sum, { constant }) => sum + constant, 0),
});

export const scaled = ({ terms, constant }: Expression, factor: number): Expression => ({
  terms: terms.map(({ variable, coefficient }) => ({ variable, coefficient: factor * coefficient })),
  constant: factor * constant,
});

function joined(terms: readonly Term[]): Term[] {
  const coefficients = new Map<number, number>();
  for (const { variable, coefficient } of terms) coefficients.set(variable, (coefficients.get(variable) ?? 0) + coefficient);
  return [...coefficients].filter(([, coefficient]) => coefficient !== 0).map(([variable, coefficient]) => ({ variable, coefficient }));
}
