import { callGraph } from "@/solver/workflow/learning/callGraph";
import { drawKnownProgram, type ProgramShape, structureFound, TEST_RESOLUTION_SECONDS } from "@/solver/workflow/testing/testProgramGraphs";
import type { Measurement } from "../lib/benchmark";

const PROGRAMS = 1000;

/** Random programs whose calls were reconstructed otherwise than they happened, though nothing in their times lay within the clock's resolution. */
export function structureErrors(): Measurement {
  const programs = Array.from({ length: PROGRAMS }, (_, seed) => drawKnownProgram(seed));
  const found = programs.map(structureFound);
  const count = (kind: (typeof found)[number]): number => found.filter((each) => each === kind).length;
  const calls = programs.reduce((sum, program) => sum + program.calls.length, 0);
  const edges = programs.reduce((sum, program) => sum + program.edges.size, 0);
  const shapes = new Map<ProgramShape, number>();
  for (const program of programs) for (const shape of program.shapes) shapes.set(shape, (shapes.get(shape) ?? 0) + 1);
  const ways = [...shapes].map(([shape, having]) => `${shape} in ${having}`).join(", ");
  const before = performance.now();
  for (const program of programs) callGraph(program.calls, TEST_RESOLUTION_SECONDS);
  const microseconds = (1000 * (performance.now() - before)) / calls;
  return {
    figure: count("wrong"),
    unit: "wrong",
    detail: `of ${PROGRAMS} random programs with ${calls.toLocaleString("en")} calls and ${edges.toLocaleString("en")} edges ${count("equal")} equal the truth in every edge and every step of calls side by side, ${count("tied")} have every edge and count ties: steps that touch within the clock's resolution, taken otherwise than they were; ${ways}; ${microseconds.toFixed(1)} us a call`,
  };
}
