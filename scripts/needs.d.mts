import type { TestContext } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** What a skipped test lacks. */
    lacks?: readonly string[];
  }
}

interface Need {
  readonly what: string;
  readonly isThere: boolean;
}

export function file(path: string): Need;
export function installed(name: string): Need;
export function program(name: string): Need;
export function variable(name: string): Need;
export function condition(what: string, isThere: boolean): Need;
export function needs(...all: readonly Need[]): { readonly skip?: true; readonly meta?: { readonly lacks: readonly string[] } };
export function skipWithout(context: TestContext, ...all: readonly Need[]): void;
export function lackOf(all: readonly Need[]): readonly string[];
export function isThere(what: string): boolean | null;
