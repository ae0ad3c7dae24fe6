import { listen, shut } from "@/server/contracts/http/apiServer";
import { createAdminServer } from "./adminServer";
import { type Cluster, createCluster } from "./emulatedCluster";
import { readSettings } from "./settings";
import { createStateStore } from "./stateStore";

/** Ends the process with one sentence, including servers that already run. */
function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

const refuseTaken = (port: number, variable: string): never =>
  refuse(`Port ${port} is taken: stop the program that listens there, or set ${variable} to another port.`);

async function main(): Promise<void> {
  const read = readSettings(process.env);
  if (!read.ok) return refuse(read.message);
  const { settings } = read;

  let announce: (cluster: Cluster) => void = () => undefined;
  const ready = new Promise<Cluster>((resolve) => {
    announce = resolve;
  });
  const admin = createAdminServer(ready, settings.adminToken);
  // First, so that a second emulator on the same ports ends before it touches the state of the first.
  if ((await listen(admin, settings.adminPort)) === undefined) refuseTaken(settings.adminPort, "WEIR_EMULATOR_PORT");
  const cluster = await createCluster(settings, createStateStore(settings.stateDir));
  if ((await listen(cluster.gpus.server, settings.dcgmPort)) === undefined) refuseTaken(settings.dcgmPort, "WEIR_DCGM_PORT");
  announce(cluster);

  const { judge, dcgmUrl, engines } = cluster.describe();
  process.stdout.write(
    `Emulated cluster: admin http://127.0.0.1:${settings.adminPort}, judge ${judge.url}, GPU telemetry ${dcgmUrl}, ${engines.length} engines\n`,
  );

  let ending = false;
  const end = async (): Promise<void> => {
    if (ending) return;
    ending = true;
    await Promise.all([shut(admin), shut(cluster.gpus.server), cluster.shutDown()]);
    process.exit(0);
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
}

main().catch((error: unknown) => refuse(error instanceof Error ? error.message : String(error)));
