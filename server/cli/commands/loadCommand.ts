import type { Command } from "commander";
import { startLoad } from "@/server/load/driver";
import { drawSample } from "@/solver/workload/sample";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { numberFlag } from "../flags/flagValues";
import { readCards, readWorkload, type WorkloadFlags, withWorkloadFlags } from "../flags/workloadFlags";

interface LoadFlags extends WorkloadFlags {
  readonly gateway: string;
  readonly model: string;
  readonly rate: number;
  readonly seconds: number;
  readonly timeScale: number;
}

/** `weir load`: replays held-out prompts of a workload through a gateway, open loop, and prints the results. */
export function addLoadCommand(program: Command, onExit: (code: ExitCode) => void): void {
  withWorkloadFlags(program.command("load"))
    .description("replay a workload's held-out prompts through a gateway at a chosen rate")
    .requiredOption("--model <name>", "virtual model, such as cascade/default")
    .requiredOption("--rate <rps>", "requests per second", numberFlag({ min: 0.001, max: 1e5 }))
    .requiredOption("--seconds <s>", "how long, in the cluster's seconds", numberFlag({ min: 1, max: 86_400 }))
    .option("--gateway <url>", "the gateway's address", "http://127.0.0.1:4610")
    .option("--time-scale <x>", "the emulated cluster's seconds in one second of the wall", numberFlag({ min: 0.01, max: 1000 }), 1)
    .action(async (flags: LoadFlags) => onExit(await load(flags)));
}

async function load(flags: LoadFlags): Promise<ExitCode> {
  if (!URL.canParse(flags.gateway)) return refuse(`--gateway: "${flags.gateway}" is no URL.`);
  const { workload } = must(await readWorkload(flags, readCards(flags).catalogue));
  const { rate: requestsPerSecond, seconds } = flags;
  const requests = Math.max(1, Math.round(requestsPerSecond * seconds));
  const run = startLoad({
    id: "command-line",
    gatewayUrl: flags.gateway,
    model: flags.model,
    timeScale: flags.timeScale,
    workloadName: workload.name,
    requestsPerSecond,
    seconds,
    sample: drawSample(workload, { part: "heldOut", requestsPerSecond, requests, seed: flags.seed + 1 }),
    outcomes: workload.outcomes,
    labelled: true,
  });
  process.once("SIGINT", () => void run.stop());
  const status = await run.done;
  process.stdout.write(`${JSON.stringify(status, null, 2)}\n`);
  return status.state === "done" && status.failed === 0 ? EXIT.done : EXIT.failed;
}
