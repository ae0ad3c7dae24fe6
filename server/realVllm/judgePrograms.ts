import { join } from "node:path";
import type { ProcessConnection } from "@/server/processes/processConnection";

export interface JudgePorts {
  readonly judge: number;
  readonly engine: number;
}

export interface JudgeParts {
  /** The folder of Weir, with `dist`. */
  readonly root: string;
  readonly addonsFolder: string;
  /** The small model at trained depth, GGUF. */
  readonly file: string;
  readonly ports: JudgePorts;
}

/** The name under which the judge answers. */
const judgeName = "arith-judge";
const judgedBy = "arith-small";

/** A judge beside the engines: the probabilities that the small model gives an answer, from an engine of Weir's own, which loads at once. */
export function judgePrograms({ root, addonsFolder, file, ports }: JudgeParts): Pick<ProcessConnection, "judge" | "beside"> {
  const node = process.execPath;
  const listening = (port: number): string[] => ["--host", "127.0.0.1", "--port", `${port}`];
  const engine = [node, join(root, "dist", "engine.mjs"), "--model", file, "--alias", judgedBy, "--addons", addonsFolder, "--threads", "1"];
  const judge = [node, join(root, "dist", "judge.mjs"), "--engine", `http://127.0.0.1:${ports.engine}`, "--model", judgedBy];
  return {
    judge: { model: judgeName, url: `http://127.0.0.1:${ports.judge}` },
    beside: [
      { name: "judge-engine", command: [...engine, ...listening(ports.engine)] },
      { name: "judge", command: [...judge, ...listening(ports.judge)] },
    ],
  };
}

/** The ports of such a judge in a connection; null: it has none. */
export function judgePortsOf({ judge, beside }: Pick<ProcessConnection, "judge" | "beside">): JudgePorts | null {
  const engine = Number(beside.find(({ name }) => name === "judge-engine")?.command.at(-1));
  return judge?.model !== judgeName || judge.url === undefined || !Number.isInteger(engine)
    ? null
    : { judge: Number(new URL(judge.url).port), engine };
}
