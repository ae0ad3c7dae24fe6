import { type EngineKind, engineKinds } from "./connections";

const benchParts = ["single", "cascade"] as const;
type BenchPart = (typeof benchParts)[number];

/** What is measured, and how long. */
export interface RealSettings {
  readonly engines: readonly EngineKind[];
  readonly parts: readonly BenchPart[];
  /** Length of a run, seconds. */
  readonly seconds: number;
  /** What would not end in so many minutes of this process is not begun; what is left is made the next time. */
  readonly minutes: number;
  /** Minutes of the sweep that an engine's profile is fitted to. */
  readonly sweepMinutes: number;
  /** Questions that the cascade is planned with. */
  readonly questions: number;
}

/** Settings by `WEIR_BENCH_REAL_…`. @throws when one is not understood. */
export function realSettings(environment: NodeJS.ProcessEnv = process.env): RealSettings {
  const engines = listed("ENGINES", engineKinds, engineKinds);
  return {
    engines,
    parts: listed("PARTS", benchParts, benchParts),
    seconds: positive("SECONDS", 40),
    minutes: positive("MINUTES", 14),
    sweepMinutes: positive("SWEEP_MINUTES", 4),
    questions: Math.round(positive("QUESTIONS", 1600)),
  };

  function listed<Name extends string>(name: string, known: readonly Name[], otherwise: readonly Name[]): readonly Name[] {
    const text = environment[`WEIR_BENCH_REAL_${name}`];
    if (text === undefined || text === "") return otherwise;
    return text.split(",").map((one) => {
      const found = known.find((own) => own === one.trim());
      if (found === undefined) throw new Error(`WEIR_BENCH_REAL_${name} knows ${known.join(", ")}, found ${one}.`);
      return found;
    });
  }

  function positive(name: string, otherwise: number): number {
    const text = environment[`WEIR_BENCH_REAL_${name}`];
    const value = text === undefined || text === "" ? otherwise : Number(text);
    if (!(value > 0)) throw new Error(`WEIR_BENCH_REAL_${name} is a number above 0, found ${text}.`);
    return value;
  }
}
