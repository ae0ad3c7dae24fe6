import { join } from "node:path";
import { CommanderError } from "commander";
import { EXIT, Refusal } from "../flags/exitCodes";
import { createProgram } from "../program";

/**
 * Runs the command line in this process, with its state in a folder, until it refuses; what `weir.ts` then prints and ends with.
 * @throws when it does not refuse.
 */
export function refusalIn(folder: string): (...args: readonly string[]) => Promise<{ readonly code: number; readonly stderr: string }> {
  return async (...args) => {
    const before = process.env.WEIR_STATE_DIR;
    process.env.WEIR_STATE_DIR = join(folder, "state");
    try {
      await createProgram(() => undefined).parseAsync(args, { from: "user" });
    } catch (problem) {
      if (problem instanceof Refusal) return { code: problem.code, stderr: problem.message };
      if (problem instanceof CommanderError) return { code: EXIT.badInput, stderr: problem.message };
      throw problem;
    } finally {
      if (before === undefined) delete process.env.WEIR_STATE_DIR;
      else process.env.WEIR_STATE_DIR = before;
    }
    throw new Error(`not refused: weir ${args.join(" ")}`);
  };
}
