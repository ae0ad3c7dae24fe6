import { Command, CommanderError } from "commander";
import { addCalibrateCommand } from "./calibrateCommand";
import { addCompareCommand } from "./compareCommand";
import { EXIT, type ExitCode } from "./exitCodes";
import { addExportCommand } from "./exportCommand";
import { addFrontierCommand } from "./frontierCommand";
import { addImportCommand } from "./importCommand";
import { addLoadCommand } from "./loadCommand";
import { addPanicCommand } from "./panicCommand";
import { addPlaceCommand } from "./placeCommand";
import { addPlanCommand } from "./planCommand";
import { addSignInCommand } from "./signInCommand";
import { addSimulateCommand } from "./simulateCommand";

/** The command line: the studio's own code, for terminals and CI. */
const program = new Command("weir")
  .description("Plan model cascades for self-hosted LLM clusters. Exit codes: 0 done, 1 failed, 2 bad input, 3 infeasible.")
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "")) });

const onExit = (code: ExitCode): void => {
  process.exitCode = code;
};
const commands = [
  ...[addPlanCommand, addFrontierCommand, addSimulateCommand, addCalibrateCommand, addCompareCommand, addExportCommand],
  ...[addImportCommand, addLoadCommand, addPanicCommand, addPlaceCommand, addSignInCommand],
];
for (const add of commands) add(program, onExit);

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on("error", (problem: NodeJS.ErrnoException) => {
  if (problem.code !== "EPIPE") throw problem;
  process.exit(EXIT.done);
});

try {
  await program.parseAsync();
} catch (problem) {
  if (problem instanceof CommanderError) process.exitCode = problem.exitCode === 0 ? EXIT.done : EXIT.badInput;
  else {
    process.stderr.write(`weir: ${problem instanceof Error ? problem.message : String(problem)}\n`);
    process.exitCode = EXIT.failed;
  }
}
