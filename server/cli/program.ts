import { Command } from "commander";
import { addAddCommand } from "./commands/addCommand";
import { addAuditCommand } from "./commands/auditCommand";
import { addCalibrateCommand } from "./commands/calibrateCommand";
import { addCompareCommand } from "./commands/compareCommand";
import { addExportCommand } from "./commands/exportCommand";
import { addFrontierCommand } from "./commands/frontierCommand";
import { addGatesCommand } from "./commands/gatesCommand";
import { addImportCommand } from "./commands/importCommand";
import { addKeysCommand } from "./commands/keysCommand";
import { addLoadCommand } from "./commands/loadCommand";
import { addMeasureCommand } from "./commands/measureCommand";
import { addPanicCommand } from "./commands/panicCommand";
import { addPlaceCommand } from "./commands/placeCommand";
import { addPlanCommand } from "./commands/planCommand";
import { addSignInCommand } from "./commands/signInCommand";
import { addSimulateCommand } from "./commands/simulateCommand";
import { addTokenCommand } from "./commands/tokenCommand";
import type { ExitCode } from "./flags/exitCodes";
import { addReproduceCommand } from "./reproduce/reproduceCommand";

const commands = [
  ...[addPlanCommand, addFrontierCommand, addSimulateCommand, addCalibrateCommand, addCompareCommand, addExportCommand],
  ...[addImportCommand, addKeysCommand, addLoadCommand, addPanicCommand, addPlaceCommand, addSignInCommand, addAuditCommand],
  ...[addTokenCommand, addAddCommand, addMeasureCommand, addGatesCommand, addReproduceCommand],
];

/** The command line with all its commands; `onExit` gets the exit code of the command that ran. */
export function createProgram(onExit: (code: ExitCode) => void): Command {
  const program = new Command("weir")
    .description("Plan model cascades for self-hosted LLM clusters. Exit codes: 0 done, 1 failed, 2 bad input, 3 infeasible.")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "")) });
  for (const add of commands) add(program, onExit);
  return program;
}
