import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Argument, type Command } from "commander";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { listFlag } from "../flags/flagValues";
import { describeReproduction, missingText, reproductionPage } from "./describeReproduction";
import { type Reproduce, type ReproducedSystem, reproducedSystems } from "./reproduction";

interface ReproduceFlags {
  readonly figure?: readonly string[];
  readonly out?: string;
  readonly json?: boolean;
}

const HELP = `
Runs the benchmarks of this repository that measure what the source of a system measured, all their seeds, and prints each figure beside the
source's, with the reason for the difference. A figure that this code cannot measure says why. All figures of a system take minutes to an
hour, those of Cascadia hours, for its race: --figure runs some of them. Data are read from ../shared/data; what is missing is named with its origin.
Exit codes: 0 done, 1 a benchmark failed, 2 bad input or all data missing.`;

/** `weir reproduce`: the published figures of the five systems, ours beside the source's. */
export function addReproduceCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command("reproduce")
    .description("measure the published figures of a system again, ours beside the source's")
    .addArgument(new Argument("<system>", "whose figures").choices(reproducedSystems))
    .option("--figure <list>", "only these figures and tables, comma separated, such as 5,table 1,text", listFlag)
    .option("--out <file>", "write a page in Markdown, or JSON where the name ends in .json")
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .action(async (system: ReproducedSystem, flags: ReproduceFlags) => onExit(await reproduceFigures(system, flags)));
}

async function reproduceFigures(system: ReproducedSystem, { figure, out, json }: ReproduceFlags): Promise<ExitCode> {
  const reproduce = await loadReproduce();
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  const { reproduction } = must(await reproduce({ system, figures: figure ?? null, progress }));
  for (const missing of reproduction.data.filter(({ present }) => !present)) progress(missingText(missing));
  const document = `${JSON.stringify(reproduction, null, 2)}\n`;
  process.stdout.write(json === true ? document : describeReproduction(reproduction));
  if (out !== undefined) {
    try {
      writeFileSync(out, out.endsWith(".json") ? document : reproductionPage(reproduction));
    } catch {
      return refuse(`--out: ${out} cannot be written.`, EXIT.failed);
    }
  }
  const kinds = new Set(reproduction.rows.map(({ ours }) => ours.kind));
  if (kinds.has("failed")) return EXIT.failed;
  return kinds.has("data-missing") && !kinds.has("measured") ? EXIT.badInput : EXIT.done;
}

/** The benchmarks' bundle, which is built in a checkout alone. */
async function loadReproduce(): Promise<Reproduce> {
  const file = join(process.env.WEIR_ROOT ?? process.cwd(), "dist", "reproduce.mjs");
  if (!existsSync(file))
    return refuse(
      "The benchmarks are not here: run `npm run weir -- reproduce` in a checkout of the repository, where they are in bench/.",
    );
  const bundle = (await import(pathToFileURL(file).href)) as { readonly reproduce: Reproduce };
  return bundle.reproduce;
}
