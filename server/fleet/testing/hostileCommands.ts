import { type RecordedRun, runRecorded } from "@/server/testing/recordedShell";
import { exported } from "./hostileExports";
import { type HostileEngine, type HostilePlan, vllmArgs } from "./hostilePlan";

/** What a shell does with the command lines of a plan, by the kind of connection. */
export const commandRuns = (hostile: HostilePlan, stub: "function" | "program") => ({
  processes: runRecorded(exported(hostile, hostile.processes, "commands"), stub),
  kubernetes: runRecorded(exported(hostile, hostile.kubernetes, "commands"), stub),
});

/** What it should do: start each engine with its names as they are, and nothing else. */
export function meantRuns({ engines }: HostilePlan): ReturnType<typeof commandRuns> {
  const run = (args: (engine: HostileEngine, at: number) => readonly string[]): RecordedRun => ({
    ...{ status: 0, stderr: "", left: [] },
    calls: engines.map((engine, at) => ({ gpus: "0", args: args(engine, at) })),
  });
  // Engines of one node listen on ports of their own.
  const onNode = new Map<string, number>();
  const nextPort = (node: string): number => {
    const port = onNode.get(node) ?? 8000;
    onNode.set(node, port + 1);
    return port;
  };
  return {
    processes: run((engine, at) => vllmArgs(engine, { host: "127.0.0.1", port: 1 + at })),
    kubernetes: run((engine) => vllmArgs(engine, { host: "0.0.0.0", port: nextPort(engine.node) })),
  };
}
