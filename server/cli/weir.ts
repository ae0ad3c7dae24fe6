import { CommanderError } from "commander";
import { reasonOf } from "@/server/lib/reasonOf";
import { EXIT, Refusal } from "./flags/exitCodes";
import { createProgram } from "./program";

// A reader that stops early, such as `head`, is no failure.
process.stdout.on("error", (problem: NodeJS.ErrnoException) => {
  if (problem.code !== "EPIPE") throw problem;
  process.exit(EXIT.done);
});

try {
  await createProgram((code) => {
    process.exitCode = code;
  }).parseAsync();
} catch (problem) {
  if (problem instanceof Refusal) {
    process.stderr.write(`${problem.message}\n`);
    process.exitCode = problem.code;
  } else if (problem instanceof CommanderError) process.exitCode = problem.exitCode === 0 ? EXIT.done : EXIT.badInput;
  else {
    process.stderr.write(`weir: ${reasonOf(problem)}\n`);
    process.exitCode = EXIT.failed;
  }
}
