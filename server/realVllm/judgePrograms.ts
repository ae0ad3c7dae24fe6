import { join } from "node:path";
import type { ProcessConnection } from "@/server/processes/processConnection";

export interface JudgeParts {
  /** The folder of Weir, with `dist`. */
  readonly root: string;
  readonly addonsFolder: string;
  /** The small model at trained depth, GGUF. */
  readonly file: string;
}

/** Above those of engines. They stay the same, since an approval of a plan holds for one connection. */
const ports = { engine: 8298, judge: 8299 } as const;

/** The name under which the judge answers. */
const judgeName = "arith-judge";
const judgedBy = "arith-small";

/** A judge beside the engines: the probabilities that the small model gives an answer, from an engine of Weir's own, which loads at once. */
export function judgePrograms({ root, addonsFolder, file }: JudgeParts): Pick<ProcessConnection, "judge" | "beside"> {
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
