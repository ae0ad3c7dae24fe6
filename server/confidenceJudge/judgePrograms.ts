import { join } from "node:path";
import { z } from "zod";
import { freePort } from "@/server/lib/freePort";

/** The name under which the judge serves. */
export const JUDGE_MODEL = "arith-judge";

/** The model whose probabilities are the scores. */
const JUDGED_BY = "arith-small";

const JUDGE = "judge";
const JUDGE_ENGINE = "judge-engine";

/** Above those of engines. */
const PORTS = { from: 8200, to: 8299 } as const;

/** A judge is asked for one answer of a stage at a time, by several requests. */
const SEQUENCES = "8";

/** Longest prompt and answer of a judged request, tokens. */
const CONTEXT_TOKENS = "2048";

export interface JudgePorts {
  readonly judge: number;
  readonly judgeEngine: number;
}

export interface JudgeParts {
  /** The folder of Weir, with `dist`. */
  readonly root: string;
  /** Node, which runs both programs. */
  readonly node: string;
  readonly addonsFolder: string;
  /** The small model at trained depth, GGUF. */
  readonly file: string;
  readonly ports: JudgePorts;
}

/** The judge and its programs, as fields of a connection of processes. */
export interface JudgePrograms {
  readonly judge: { readonly model: string; readonly url: string };
  readonly beside: { name: string; command: string[] }[];
}

/**
 * A judge beside the engines of a cluster: it scores an answer by the smallest probability that the small model, at trained depth in an
 * engine of its own, gives a token of it.
 */
export function judgePrograms({ root, node, addonsFolder, file, ports }: JudgeParts): JudgePrograms {
  const listening = (port: number): string[] => ["--host", "127.0.0.1", "--port", `${port}`];
  const engine = [node, join(root, "dist", "engine.mjs"), "--addons", addonsFolder, "--model", file, "--alias", JUDGED_BY];
  const limits = ["--sequences", SEQUENCES, "--context", CONTEXT_TOKENS, "--threads", "1"];
  const judge = [node, join(root, "dist", "judge.mjs"), "--engine", `http://127.0.0.1:${ports.judgeEngine}`, "--model", JUDGED_BY];
  return {
    judge: { model: JUDGE_MODEL, url: `http://127.0.0.1:${ports.judge}` },
    beside: [
      { name: JUDGE_ENGINE, command: [...engine, ...listening(ports.judgeEngine), ...limits] },
      { name: JUDGE, command: [...judge, ...listening(ports.judge)] },
    ],
  };
}

/**
 * Ports for the judge of a cluster: those in its stored connection, since an approval of a plan holds for one connection; otherwise the first
 * two that are free and in no other one.
 *
 * @param own stored connection of the cluster; null: it has none.
 * @param others stored connections of other clusters, whose judges may not run now.
 * @returns null if no two ports are free.
 */
export async function judgePorts(own: unknown, others: readonly unknown[]): Promise<JudgePorts | null> {
  const kept = portsIn(own);
  if (kept !== null) return kept;
  const taken = new Set(others.flatMap((connection) => Object.values(portsIn(connection) ?? {})));
  const judge = await freePort(PORTS, taken);
  const judgeEngine = judge === null ? null : await freePort(PORTS, taken.add(judge));
  return judge === null || judgeEngine === null ? null : { judge, judgeEngine };
}

/** Why there is no judge where no two ports are free. */
export const noJudgePorts = `No two ports from ${PORTS.from} to ${PORTS.to} are free for the judge`;

const storedSchema = z.object({ beside: z.array(z.object({ name: z.string(), command: z.array(z.string()) })) });

function portsIn(connection: unknown): JudgePorts | null {
  const read = storedSchema.safeParse(connection);
  if (!read.success) return null;
  const portOf = (program: string): number => {
    const command = read.data.beside.find(({ name }) => name === program)?.command ?? [];
    return command.includes("--port") ? Number(command[command.indexOf("--port") + 1]) : Number.NaN;
  };
  const ports = { judge: portOf(JUDGE), judgeEngine: portOf(JUDGE_ENGINE) };
  return Object.values(ports).every(Number.isInteger) ? ports : null;
}
