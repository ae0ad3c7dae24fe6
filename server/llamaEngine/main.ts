import type { AddressInfo } from "node:net";
import { listen } from "@/server/contracts/http/apiServer";
import { reasonOf } from "@/server/lib/reasonOf";
import { createEngine } from "./engine";
import { createEngineServer, type EngineProcess } from "./engineServer";
import { loadModel } from "./loadedModel";
import { readSettings } from "./settings";

/** Ends the process with one sentence. */
function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

async function main(): Promise<void> {
  const read = readSettings(process.argv.slice(2), process.env);
  if (!read.ok) return refuse(read.message);
  const { settings } = read;
  const state: EngineProcess = { engine: null, isStopping: false };
  const server = createEngineServer(state, settings);

  const end = async (): Promise<void> => {
    if (state.isStopping) return;
    state.isStopping = true;
    const closed = new Promise((resolve) => server.close(resolve));
    await state.engine?.batcher.stop(settings.graceSeconds * 1000);
    server.closeIdleConnections();
    // Answers that ended are sent before their connections are closed.
    setTimeout(() => server.closeAllConnections(), 1000).unref();
    await closed;
    await state.engine?.model.close();
    process.exit(0);
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);

  const port = await listen(server, settings.port, settings.host).catch((problem: unknown) =>
    refuse(`${settings.host} cannot be listened on: ${reasonOf(problem)}.`),
  );
  if (port === undefined) return refuse(`Port ${settings.port} is taken: stop the program that listens there, or give another --port.`);
  const { address, family } = server.address() as AddressInfo;
  const host = family === "IPv6" ? `[${address}]` : address;
  process.stdout.write(`listening on http://${host}:${port}\n`);

  const startedMs = performance.now();
  const model = await loadModel(settings);
  if (state.isStopping) return;
  state.engine = createEngine(model, settings);
  const { sequences, contextTokens, version } = model;
  const room = `${sequences.length} sequences of ${contextTokens} tokens`;
  process.stdout.write(`ready: ${settings.alias}, ${room}, ${version}, loaded in ${Math.round(performance.now() - startedMs)} ms\n`);
}

main().catch((problem: unknown) => refuse(reasonOf(problem)));
