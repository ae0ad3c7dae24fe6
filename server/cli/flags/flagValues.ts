import { InvalidArgumentError } from "commander";

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean;
}

/** Reads a number flag; commander prefixes the message with the flag's name and the value given. */
export function numberFlag({ min, max, whole = false }: Bounds): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && value >= min && value <= max && (!whole || Number.isInteger(value))) return value;
    throw new InvalidArgumentError(`Give a ${whole ? "whole " : ""}number from ${min} to ${max}.`);
  };
}

/** Reads `a,b,c`, without empty parts. */
export const listFlag = (text: string): string[] => text.split(",").flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));

/** The temperature of samples where none is given. */
export const USUAL_TEMPERATURE = 0.7;

/** Reads `count` or `count@temperature` of further answers. */
export function samplesFlag(text: string): { readonly count: number; readonly temperature: number } {
  const [count = "", temperature = String(USUAL_TEMPERATURE), ...rest] = text.split("@");
  if (rest.length > 0) throw new InvalidArgumentError("Write a number of samples, or 'number@temperature'.");
  return { count: numberFlag({ min: 1, max: 8, whole: true })(count), temperature: numberFlag({ min: 0, max: 2 })(temperature) };
}

/** Collects `table name=card` pairs of a repeatable flag. */
export function aliasFlag(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const pairs = listFlag(text).map((pair) => {
    const cut = pair.lastIndexOf("=");
    const [tableName, card] = [pair.slice(0, cut).trim(), pair.slice(cut + 1).trim()];
    if (cut < 1 || tableName === "" || card === "") throw new InvalidArgumentError("Write 'table name=card'.");
    return [tableName, card] as const;
  });
  return { ...before, ...Object.fromEntries(pairs) };
}
