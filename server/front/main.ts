import { createServer, type RequestListener } from "node:http";
import next from "next";
import { reasonOf } from "@/server/lib/reasonOf";
import { createTlsServer } from "@/server/lib/tlsServer";
import { frontSettings } from "./frontSettings";
import { type RefusedRequest, studioListener } from "./studioListener";

/** What this file needs of the runtime, which Next's own build starts in this process and keeps under this symbol. */
interface RunningStudio {
  readonly services: { readonly audit: { refused(line: Readonly<Record<string, string>>): void } };
}
const runtimeKey = Symbol.for("weir.runtime");
const holder = globalThis as typeof globalThis & { readonly [runtimeKey]?: RunningStudio };

const onRefused = ({ address, request, message }: RefusedRequest): void =>
  holder[runtimeKey]?.services.audit.refused({ actor: "nobody", address, action: "request", subject: request, detail: message });

const say = (sentence: string): void => void process.stderr.write(`${sentence}\n`);

/**
 * Serves the studio: the checks of `studioListener` before Next. A `proxy.ts` of Next could not do this: it buffers bodies in memory and cuts
 * them after 10 MB, and it does not see the connection.
 */
async function start(): Promise<void> {
  const { address, port, tls, proxies, hosts } = frontSettings(process.env);
  // `instrumentation.ts` refuses to start without.
  process.env.WEIR_FRONT = "1";
  let ready: (handle: RequestListener) => void = () => {};
  const handled = new Promise<RequestListener>((resolve) => {
    ready = resolve;
  });
  const handle: RequestListener = (request, response) => void handled.then((answer) => answer(request, response));
  const listener = studioListener({ tls, proxies, hosts, handle, onRefused });
  const server = tls === null ? createServer(listener) : createTlsServer({ files: tls, onProblem: say }).on("request", listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: address }, resolve);
  });
  const app = next({ dev: false, dir: process.env.WEIR_ROOT ?? process.cwd(), hostname: address, port, httpServer: server });
  await app.prepare();
  const answer = app.getRequestHandler();
  ready((request, response) => void answer(request, response));
}

start().catch((problem: unknown) => {
  say(reasonOf(problem));
  process.exit(1);
});
