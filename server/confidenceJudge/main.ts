import { listen, shut } from "@/server/contracts/http/apiServer";
import { reasonOf } from "@/server/lib/reasonOf";
import { createJudgeServer } from "./judgeServer";
import { readJudgeSettings } from "./judgeSettings";

/** Ends the process with one sentence. */
function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

async function main(): Promise<void> {
  const read = readJudgeSettings(process.argv.slice(2));
  if (!read.ok) return refuse(read.message);
  const { engine, host, port } = read.settings;
  const server = createJudgeServer(engine);
  const bound = await listen(server, port, host);
  if (bound === undefined) return refuse(`Port ${port} is taken: stop the program that listens there, or give another --port.`);
  process.stdout.write(`listening on http://${host}:${bound}, scores by ${engine.model} at ${engine.url}\n`);
  const end = async (): Promise<void> => {
    await shut(server);
    process.exit(0);
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
}

main().catch((error: unknown) => refuse(reasonOf(error)));
