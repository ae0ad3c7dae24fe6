import type { Command } from "commander";
import { tournamentFigures } from "@/solver/tournament/tournamentFigures";
import { SHARE_BOUNDS, USUAL_SHARE } from "@/solver/tournament/tournamentLimits";
import { describeTournament } from "../describe/describeTournament";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { numberFlag } from "../flags/flagValues";
import { readCards, readWorkload, type WorkloadFlags, withWorkloadFlags } from "../flags/workloadFlags";

interface GatesFlags extends WorkloadFlags {
  readonly share: number;
  readonly judgeSeconds?: number;
  readonly json?: boolean;
}

const HELP = `
Compares what could accept or escalate the answers of each stage: the judge's scores, the columns confidence and agreement where the table
has them, and a scorer that is trained on the labels. Every gate is calibrated on 70 % of the prompts and measured on the other 30 %:
AUC, expected calibration error before and after, area under the risk-coverage curve (lower is better), and points of quality above
random escalation at the same share. The best gate of a stage is chosen on the 70 % alone, and tested on the other 30 %.`;

/** `weir gates`: a tournament of gates on a workload, held out. */
export function addGatesCommand(program: Command, onExit: (code: ExitCode) => void): void {
  withWorkloadFlags(program.command("gates"))
    .description("compare gates (judge, confidence, agreement, scorer) on a workload's held-out prompts")
    .option(
      "--share <share>",
      "share of answers sent on, at which gates are compared with random escalation",
      numberFlag(SHARE_BOUNDS),
      USUAL_SHARE,
    )
    .option("--judge-seconds <s>", "time of one judge call, for the column of costs", numberFlag({ min: 0, max: 3600 }))
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .action(async (flags: GatesFlags) => onExit(await gates(flags)));
}

async function gates(flags: GatesFlags): Promise<ExitCode> {
  const { workload } = must(await readWorkload(flags, readCards(flags).catalogue));
  const compared = tournamentFigures(workload, { share: flags.share, judgeSeconds: flags.judgeSeconds ?? null });
  if (!compared.ok) return refuse(compared.message);
  const { tournament } = compared;
  process.stdout.write(flags.json === true ? `${JSON.stringify(tournament, null, 2)}\n` : describeTournament(tournament));
  return EXIT.done;
}
