import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { startTestEngine, type TestEngine } from "./testEngine";
import { close, listen, textOf } from "./testHttp";
import { refusalOf, type TestConfig } from "./testServeSchema";

/** A node of the stand-in, with this number of GPUs. */
export interface TestNode {
  readonly id: string;
  readonly ip: string;
  readonly gpus: number;
  readonly accelerator?: string;
}

interface Application {
  readonly config: TestConfig;
  status: string;
  message: string;
  deployment: { status: string; message: string } | null;
  engine: TestEngine | null;
  node: TestNode | null;
  /** Number of the current build; an older build finds another number and gives up. */
  build: number;
  builds: number;
}

/** Meanings of the stand-in's import paths. */
export const testImportPaths = { serving: "small:build", missing: "nosuchmodule:build", failing: "small:failing" } as const;

const usualBuildMs = 80;
const endMs = 80;

/**
 * Stands in for a Ray head node: the dashboard's Serve and state APIs as documented and as observed in Ray 2.60, and Serve's proxy, with a
 * small engine behind each application's route. It has no knowledge of its clients.
 */
export async function startTestServe({ nodes, token, loadMs = 150 }: { nodes: readonly TestNode[]; token?: string; loadMs?: number }) {
  const applications = new Map<string, Application>();
  /** GPUs of actors that are not Serve's, by node. */
  const training = new Map<string, number>();
  let settings: Readonly<Record<string, unknown>> | null = null;
  const puts: string[] = [];
  /** Runs between a GET and the PUT after it. */
  let beforePut: () => void = () => undefined;

  const freeOn = (node: TestNode): number => {
    const used = [...applications.values()].filter((one) => one.node === node).reduce((sum, one) => sum + gpusOf(one.config), 0);
    return node.gpus - used - (training.get(node.id) ?? 0);
  };

  async function build(application: Application): Promise<void> {
    application.build += 1;
    application.builds += 1;
    const { build: mine, config } = application;
    const stale = () => application.build !== mine;
    Object.assign(application, { status: "DEPLOYING", message: "", deployment: null });
    await sleep(Number(config.args?.buildMs ?? usualBuildMs));
    if (stale()) return;
    if (config.import_path === testImportPaths.missing) {
      application.status = "DEPLOY_FAILED";
      application.message = `Deploying app '${config.name}' failed with exception:\nTraceback (most recent call last):\n  File "/ray/serve/application_state.py", line 1737, in build_serve_application\n    import_attr(import_path), args\n    ^^^^^^^^^^^\nModuleNotFoundError: No module named 'nosuchmodule'\n`;
      return;
    }
    application.deployment = { status: "UPDATING", message: "" };
    for (;;) {
      const wanted = (config.args?.node as string | undefined)?.replace(/^node:/, "");
      application.node = nodes.find((node) => (wanted === undefined || node.ip === wanted) && freeOn(node) >= gpusOf(config)) ?? null;
      if (application.node !== null || gpusOf(config) === 0) break;
      application.deployment.message = `Deployment 'Engine' in application '${config.name}' has 1 replicas that have taken more than 30s to be scheduled. Resources required for each replica: {"GPU": ${gpusOf(config)}}.`;
      await sleep(20);
      if (stale()) return;
    }
    await sleep(loadMs);
    if (stale()) return;
    if (config.import_path === testImportPaths.failing) {
      application.deployment = {
        status: "DEPLOY_FAILED",
        message: `The deployment failed to start 3 times in a row. Error:\n\u001b[36mray::Engine()\u001b[39m (pid=1)\n  File "/ray/replica.py", line 9, in __init__\n    raise\nRuntimeError: 401 for hf_abcdefghijklmnop`,
      };
      Object.assign(application, { status: "DEPLOY_FAILED", message: "Failed to update the deployments ['Engine'].", node: null });
      return;
    }
    application.engine = await startTestEngine(String(config.args?.model ?? ""));
    if (stale()) return application.engine.close();
    application.deployment = { status: "HEALTHY", message: "" };
    application.status = "RUNNING";
  }

  async function remove(name: string, application: Application): Promise<void> {
    application.build += 1;
    application.status = "DELETING";
    application.deployment = null;
    await sleep(endMs);
    await application.engine?.close();
    if (applications.get(name) === application) applications.delete(name);
  }

  function put(configs: readonly TestConfig[]): void {
    for (const config of configs) {
      const name = config.name ?? "default";
      const standing = applications.get(name);
      const same = standing !== undefined && standing.status !== "DELETING" && isDeepStrictEqual(standing.config, config);
      if (same && standing.deployment !== null) continue;
      if (same) void build(standing);
      else {
        if (standing !== undefined) void standing.engine?.close();
        const fresh: Application = {
          config,
          status: "DEPLOYING",
          message: "",
          deployment: null,
          engine: null,
          node: null,
          build: 0,
          builds: 0,
        };
        applications.set(name, fresh);
        void build(fresh);
      }
    }
    const listed = new Set(configs.map(({ name }) => name ?? "default"));
    for (const [name, application] of applications)
      if (!listed.has(name) && application.status !== "DELETING") void remove(name, application);
  }

  /** The configuration is reported exactly as it was sent. */
  const letters = new Map<TestConfig, string>();
  function details(browser: boolean): string {
    const told = [...applications].map(([name, { config, status, message, deployment }]) => {
      const text = letters.get(config) ?? JSON.stringify(config);
      const shown = browser ? text.replace(/("env_vars":\s*\{)[^}]*\}/g, '$1"ANY": "<redacted>"}') : text;
      const deployments = deployment === null ? {} : { Engine: { name: "Engine", ...deployment, replicas: [] } };
      const rest = JSON.stringify({ name, route_prefix: config.route_prefix, status, message, source: "declarative", deployments });
      return `${JSON.stringify(name)}: {"deployed_app_config": ${status === "DELETING" ? "null" : shown}, ${rest.slice(1)}`;
    });
    const { target_capacity = null } = settings ?? {};
    const http = settings === null ? "" : `"http_options": {"host": "127.0.0.1", "port": ${proxyPort}}, "proxy_location": "EveryNode", `;
    return `{"controller_info": {}, ${http}"proxies": {}, "applications": {${told.join(", ")}}, "target_capacity": ${JSON.stringify(target_capacity)}}`;
  }

  function rows(collection: string): readonly object[] | null {
    if (collection === "nodes")
      return nodes.map(({ id, ip, gpus, accelerator }) => ({
        ...{ node_id: id, node_ip: ip, node_name: ip, state: "ALIVE" },
        resources_total: {
          CPU: 8,
          GPU: gpus,
          [`node:${ip}`]: 1,
          ...(accelerator === undefined ? {} : { [`accelerator_type:${accelerator}`]: 1 }),
        },
      }));
    if (collection === "placement_groups") return [];
    if (collection !== "actors") return null;
    const replicas = [...applications].flatMap(([name, { node, config }]) =>
      node === null ? [] : [{ name: `SERVE_REPLICA::${name}#Engine#abc`, node_id: node.id, required_resources: { GPU: gpusOf(config) } }],
    );
    return [...replicas, ...[...training].map(([node_id, GPU]) => ({ name: "", node_id, required_resources: { GPU } }))];
  }

  async function dashboard(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const say = (status: number, text: string) => void response.writeHead(status, { "content-type": "application/json" }).end(text);
    const browser = ["sec-fetch-mode", "origin", "referer"].some((name) => request.headers[name] !== undefined);
    const { pathname } = new URL(request.url ?? "/", "http://ray");
    const given = request.headers.authorization;
    const body = await textOf(request);
    if (token !== undefined && given !== `Bearer ${token}`)
      return given === undefined
        ? say(401, "Unauthorized: Missing authentication token")
        : say(403, "Forbidden: Invalid authentication token");
    if (request.method !== "GET" && browser) return say(405, `'${request.method}' method not allowed for browser traffic.`);
    if (pathname === "/api/serve/applications/" && request.method === "GET") return say(200, details(browser));
    if (pathname === "/api/serve/applications/" && request.method === "PUT") {
      beforePut();
      beforePut = () => undefined;
      puts.push(body);
      const parsed = JSON.parse(body) as { applications: TestConfig[] };
      const refusal = refusalOf(parsed);
      if (refusal !== null) return say(400, refusal);
      settings = parsed as Readonly<Record<string, unknown>>;
      for (const config of parsed.applications) letters.set(config, JSON.stringify(config));
      put(parsed.applications);
      return say(200, "");
    }
    const listed = rows(/^\/api\/v0\/(\w+)$/.exec(pathname)?.[1] ?? "");
    if (listed === null) return say(404, "404: Not Found");
    return say(200, JSON.stringify({ result: true, msg: "", data: { result: { total: listed.length, result: listed } } }));
  }

  /** The longest prefix is chosen, and removed. */
  function proxy(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "/";
    const fitting = [...applications.values()]
      .filter(({ config, engine }) => engine !== null && (path === config.route_prefix || path.startsWith(`${config.route_prefix}/`)))
      .sort((a, b) => (b.config.route_prefix?.length ?? 0) - (a.config.route_prefix?.length ?? 0));
    const [found] = fitting;
    if (!found?.engine || found.status === "DELETING") {
      response.writeHead(404).end(`Path '${path}' not found. Ping http://.../-/routes for available routes.`);
      return;
    }
    found.engine.serve(request, response, path.slice(found.config.route_prefix?.length ?? 0) || "/");
  }

  const proxyServer = createServer(proxy);
  let dashboardServer = createServer(dashboard);
  const proxyPort = await listen(proxyServer);
  const port = await listen(dashboardServer);

  return {
    url: `http://127.0.0.1:${port}`,
    applications,
    training,
    /** Bodies of PUTs, including refused ones. */
    puts,
    onceBeforePut(act: () => void) {
      beforePut = act;
    },
    /** Deploys in parallel to others, like another user of the same Ray. */
    deploy(config: TestConfig, text = JSON.stringify(config)) {
      letters.set(config, text);
      settings ??= {};
      put([...[...applications.values()].filter(({ status }) => status !== "DELETING").map((one) => one.config), config]);
    },
    async away() {
      await close(dashboardServer);
    },
    async back() {
      dashboardServer = createServer(dashboard);
      await listen(dashboardServer, port);
    },
    async stop() {
      for (const application of applications.values()) {
        application.build += 1;
        await application.engine?.close();
      }
      await Promise.all([close(dashboardServer), close(proxyServer)]);
    },
  };
}

const gpusOf = ({ args }: TestConfig): number => Number(args?.gpus ?? 0);
