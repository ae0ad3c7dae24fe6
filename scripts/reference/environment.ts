import { deprecatedVariables } from "@/server/contracts/deprecatedNames";
import { code, page, table } from "./markdown";

type Process = "launcher" | "studio" | "gateway" | "emulator" | "engine" | "command line" | "tests";

/** An environment variable that a process reads. */
export interface Variable {
  readonly name: string;
  readonly readBy: readonly Process[];
  readonly usual: string;
  readonly meaning: string;
}

const all: readonly Process[] = ["launcher", "studio", "gateway", "emulator"];

export const variables: readonly Variable[] = [
  {
    name: "WEIR_STATE_DIR",
    readBy: [...all, "command line"],
    usual: ".weir",
    meaning: "Folder with all state. One studio uses it at a time.",
  },
  {
    name: "WEIR_ROOT",
    readBy: ["studio", "gateway", "command line"],
    usual: "the working directory",
    meaning: "Folder of the installation, in which `dist` lies. Set by the launchers.",
  },
  {
    name: "WEIR_ADDONS_DIR",
    readBy: ["studio", "command line", "engine"],
    usual: "`addons` in the state folder",
    meaning: "Folder of the add-ons that `weir add` installs.",
  },
  { name: "WEIR_STUDIO_PORT", readBy: ["launcher", "studio", "command line"], usual: "4600", meaning: "Port of the studio." },
  { name: "WEIR_GATEWAY_PORT", readBy: [...all, "command line"], usual: "4610", meaning: "Port of the OpenAI-compatible API." },
  { name: "WEIR_GATEWAY_ADMIN_PORT", readBy: [...all, "command line"], usual: "4611", meaning: "Port of the gateway's admin API." },
  {
    name: "WEIR_GATEWAY_HOST",
    readBy: ["gateway"],
    usual: "127.0.0.1",
    meaning: "Address that the OpenAI-compatible API listens on. One that other machines reach needs API keys.",
  },
  {
    name: "WEIR_GATEWAY_HOSTS",
    readBy: ["gateway"],
    usual: "",
    meaning: "Host names under which clients know the gateway, separated by commas. Addresses and `localhost` need none.",
  },
  {
    name: "WEIR_GATEWAY_KEYS",
    readBy: ["gateway"],
    usual: "",
    meaning: "API keys while the configuration names none, as `name:sha256`, separated by commas.",
  },
  {
    name: "WEIR_VALKEY_URL",
    readBy: ["gateway"],
    usual: "",
    meaning:
      "Valkey or Redis over which several gateways count the limits of API keys together, such as `redis://127.0.0.1:6379/0`. Without it each counts its own.",
  },
  {
    name: "WEIR_STORED_RESPONSES_MB",
    readBy: ["gateway"],
    usual: "",
    meaning:
      "Memory in megabytes for responses of `/v1/responses` that clients store, so that `previous_response_id` continues them. Without it none are kept.",
  },
  {
    name: "WEIR_STORED_RESPONSES_HOURS",
    readBy: ["gateway"],
    usual: "24",
    meaning: "Hours for which such a response is kept, at most 480.",
  },
  { name: "WEIR_EMULATOR_PORT", readBy: all, usual: "4620", meaning: "Port of the emulator's admin API." },
  { name: "WEIR_DCGM_PORT", readBy: all, usual: "4621", meaning: "Port of the emulated GPU metrics." },
  {
    name: "WEIR_ENGINE_PORT_BASE",
    readBy: ["launcher", "emulator", "studio"],
    usual: "4630",
    meaning: "Engines that Weir starts take the next free ports from here.",
  },
  {
    name: "WEIR_STUDIO_URL",
    readBy: ["studio"],
    usual: "by the port",
    meaning: "Address of the studio, where a proxy or a certificate is used. Its host is one that the studio answers under.",
  },
  {
    name: "WEIR_STUDIO_ADDRESS",
    readBy: ["studio"],
    usual: "127.0.0.1",
    meaning: "IP address that the studio listens on. Others than loopback need a certificate or trusted proxies.",
  },
  {
    name: "WEIR_STUDIO_HOSTS",
    readBy: ["studio"],
    usual: "",
    meaning:
      "Further host names that the studio answers under, separated by commas: `name:port`, or `name` for every port. Loopback names with the studio's port and the host of `WEIR_STUDIO_URL` always count.",
  },
  {
    name: "WEIR_TRUSTED_PROXIES",
    readBy: ["studio"],
    usual: "",
    meaning: "Addresses and networks of reverse proxies, separated by commas, whose `X-Forwarded-*` headers count.",
  },
  {
    name: "WEIR_TLS_CERT_FILE",
    readBy: ["studio", "gateway"],
    usual: "",
    meaning: "PEM file with the certificate and its chain, for studio and gateway. A changed file is read within five seconds.",
  },
  { name: "WEIR_TLS_KEY_FILE", readBy: ["studio", "gateway"], usual: "", meaning: "PEM file with its private key." },
  {
    name: "WEIR_FRONT",
    readBy: ["studio"],
    usual: "",
    meaning: "`1`: the studio's own HTTP server, which checks requests, runs in front of the pages. Set by it.",
  },
  { name: "WEIR_GATEWAY_URL", readBy: ["studio"], usual: "by the port", meaning: "Address of the embedded cluster's gateway." },
  { name: "WEIR_GATEWAY_ADMIN_URL", readBy: ["studio"], usual: "by the port", meaning: "Address of that gateway's admin API." },
  { name: "WEIR_EMULATOR_URL", readBy: ["studio"], usual: "by the port", meaning: "Address of the emulator." },
  {
    name: "WEIR_ADMIN_TOKEN",
    readBy: all,
    usual: "made by the launcher",
    meaning:
      "Secret between the processes: the bearer token of the admin APIs, without which no gateway starts. The launcher keeps it in the state folder.",
  },
  {
    name: "WEIR_STUDIO_PUBLIC_KEY",
    readBy: ["gateway"],
    usual: "set by the launcher",
    meaning:
      "Whose orders the gateway follows: the path of a file with the studio's public key, or the key itself (`ed25519:…`). `none`: everybody with the admin token may put plans into force. A gateway does not start without it.",
  },
  {
    name: "WEIR_CLUSTER_ID",
    readBy: ["gateway"],
    usual: "set by the launcher",
    meaning: "The cluster whose orders the gateway follows, by its id in the studio. Left out: the cluster of the first order.",
  },
  {
    name: "WEIR_SECRETS_DIR",
    readBy: all,
    usual: "secrets in the state folder",
    meaning: "Folder with one file for each key of an engine or authority. A file is read within a second, without a restart.",
  },
  {
    name: "WEIR_SECRET_ORIGINS",
    readBy: ["launcher", "studio", "gateway"],
    usual: "secret-origins.json in the state folder",
    meaning:
      "JSON file with the origins that each key may be sent to. A gateway without this variable keeps its own, `gateway-secret-origins.json` in its state folder.",
  },
  {
    name: "WEIR_ALLOWED_ADDRESSES",
    readBy: ["studio", "gateway"],
    usual: "",
    meaning:
      "Link-local addresses, addresses of metadata services and subnets of them that requests may go to, separated by commas, such as `169.254.7.0/24`.",
  },
  {
    name: "WEIR_ENGINE_…",
    readBy: ["studio", "gateway"],
    usual: "",
    meaning: "A key of an engine, named by the cluster's connection. A file of the secrets folder does the same without a restart.",
  },
  {
    name: "WEIR_JUDGE_…",
    readBy: ["gateway"],
    usual: "",
    meaning: "The key of a judge, named by `keyFromEnvironment` of its configuration.",
  },
  {
    name: "WEIR_OIDC_ISSUER",
    readBy: ["studio"],
    usual: "",
    meaning: "Issuer URL of the OpenID provider that people sign in by; https, except on a loopback address.",
  },
  { name: "WEIR_OIDC_NAME", readBy: ["studio"], usual: "the issuer's host", meaning: "The provider's name on the sign-in page." },
  { name: "WEIR_OIDC_CLIENT_ID", readBy: ["studio"], usual: "", meaning: "Client id of the studio at the provider." },
  {
    name: "WEIR_OIDC_CLIENT_SECRET_FILE",
    readBy: ["studio"],
    usual: "",
    meaning: "Path of a file with the client secret. It is read at each sign-in.",
  },
  {
    name: "WEIR_OIDC_SCOPES",
    readBy: ["studio"],
    usual: "openid profile email",
    meaning: "Scopes that are requested, separated by spaces.",
  },
  { name: "WEIR_OIDC_GROUPS_CLAIM", readBy: ["studio"], usual: "groups", meaning: "The claim with a person's groups." },
  {
    name: "WEIR_OIDC_ROLES",
    readBy: ["studio"],
    usual: "",
    meaning: "Roles of groups, such as `admins=admin,ml-ops=operator`. The highest role of a person's groups counts.",
  },
  {
    name: "WEIR_OIDC_DEFAULT_ROLE",
    readBy: ["studio"],
    usual: "none",
    meaning: "Role of people without a group that has one; unset: they are refused.",
  },
  {
    name: "WEIR_LAUNCHED",
    readBy: ["studio"],
    usual: "",
    meaning: "`1`: a launcher reads what the studio prints and runs gateways for attached clusters. Set by `npm run studio`.",
  },
  {
    name: "WEIR_VALKEY_SERVER",
    readBy: ["tests"],
    usual: "valkey-server or redis-server on the PATH",
    meaning: "Server that tests and benchmarks of several gateways start.",
  },
  {
    name: "WEIR_VLLM",
    readBy: ["launcher"],
    usual: "",
    meaning: "A virtual environment that has vLLM: `npm run real` starts engines from it and installs none.",
  },
  { name: "WEIR_VERBOSE", readBy: ["launcher"], usual: "", meaning: "Set to anything: the launcher prints what its processes print." },
  { name: "WEIR_LOG_LEVEL", readBy: ["gateway"], usual: "info", meaning: "Level of the gateway's log, as pino names them." },
  { name: "WEIR_SCRAPE_SECONDS", readBy: ["studio"], usual: "1", meaning: "How often targets are scraped, 0.5 to 5." },
  {
    name: "WEIR_PROMETHEUS_URL",
    readBy: ["studio"],
    usual: "",
    meaning: "A Prometheus that charts are read from, in place of what the studio keeps.",
  },
  { name: "WEIR_PROMETHEUS_TOKEN", readBy: ["studio"], usual: "", meaning: "Its bearer token, where it wants one." },
  { name: "WEIR_PROMETHEUS_SCRAPE_SECONDS", readBy: ["studio"], usual: "15", meaning: "How often that Prometheus scrapes." },
  {
    name: "WEIR_ENGINE_MAPPINGS",
    readBy: ["studio", "gateway"],
    usual: "",
    meaning: "YAML or JSON file with the operator's own names of engines' metrics.",
  },
  {
    name: "WEIR_ENCODER_FOLDERS",
    readBy: ["gateway", "studio"],
    usual: "",
    meaning: "Whole paths of folders with ONNX text encoders, separated as in `PATH`.",
  },
  {
    name: "WEIR_EMBEDDED",
    readBy: ["emulator"],
    usual: "8 × l40s on 2 nodes",
    meaning: 'The emulated hardware as JSON: `{"gpu":"l40s","nodes":[{"name":"node1","gpus":4}]}`.',
  },
  { name: "WEIR_TIME_SCALE", readBy: ["emulator"], usual: "1", meaning: "Engine seconds in one second of the wall." },
  {
    name: "WEIR_EMULATOR_NOISE",
    readBy: ["emulator"],
    usual: "seeded",
    meaning: "`seeded`: emulated engines deviate from the planner's model. `off`: they follow it, and the studio says so.",
  },
  { name: "OTEL_EXPORTER_OTLP_ENDPOINT", readBy: ["gateway"], usual: "", meaning: "Where traces go, by OTLP over HTTP; unset: nowhere." },
  {
    name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    readBy: ["gateway"],
    usual: "",
    meaning: "The same for traces alone; it goes before the other.",
  },
  {
    name: "OTEL_EXPORTER_OTLP_PROTOCOL",
    readBy: ["gateway"],
    usual: "http/protobuf",
    meaning: "The form of traces: `http/protobuf` or `http/json`. With another, such as `grpc`, the gateway says so and exports none.",
  },
  {
    name: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    readBy: ["gateway"],
    usual: "",
    meaning: "The same for traces alone; it goes before the other.",
  },
  { name: "OTEL_TRACES_EXPORTER", readBy: ["gateway"], usual: "", meaning: "`none`: no traces." },
  {
    name: "OTEL_SDK_DISABLED",
    readBy: ["gateway"],
    usual: "",
    meaning:
      "`true`: no traces. The SDK reads its other variables too, such as `OTEL_EXPORTER_OTLP_HEADERS` and `OTEL_EXPORTER_OTLP_TIMEOUT` (milliseconds), both also with `TRACES_` after `OTLP_`, `OTEL_EXPORTER_OTLP_CERTIFICATE`, `OTEL_TRACES_SAMPLER` and `OTEL_SERVICE_NAME`.",
  },
  {
    name: "CHROMIUM_PATH",
    readBy: ["tests"],
    usual: "/usr/bin/chromium",
    meaning: "The Chromium that browser tests and pictures of this documentation drive.",
  },
  { name: "PROMETHEUS_PATH", readBy: ["tests"], usual: "/usr/bin/prometheus", meaning: "The Prometheus that tests start." },
  {
    name: "WEIR_LLAMA_SERVER",
    readBy: ["tests"],
    usual: "",
    meaning: "llama.cpp's own server, as `node scripts/buildLlamaServer.mjs` builds it, for the tests and benchmarks on it.",
  },
  {
    name: "WEIR_PYTHON_FRAMEWORKS",
    readBy: ["tests"],
    usual: "",
    meaning: "Any value: the test with LangChain, LlamaIndex and LiteLLM for Python runs, which installs hundreds of megabytes.",
  },
  { name: "WEIR_RAY_VENV", readBy: ["tests"], usual: "", meaning: "A Python environment with Ray, for the tests of that connector." },
  { name: "WEIR_TEST_KUBECONFIG", readBy: ["tests"], usual: "", meaning: "A cluster that the tests of the Kubernetes connector may use." },
  { name: "WEIR_SHOTS", readBy: ["tests"], usual: "", meaning: "Folder for screenshots of the browser tests." },
];

/** The page of the environment variables. */
export function environmentPage(): string {
  const product = variables.filter(({ readBy }) => !readBy.includes("tests"));
  const tests = variables.filter(({ readBy }) => readBy.includes("tests"));
  const former = (name: string): string =>
    deprecatedVariables[name] === undefined ? "" : ` (formerly ${code(deprecatedVariables[name])}, accepted for one release)`;
  const row = ({ name, readBy, usual, meaning }: Variable): readonly string[] => [
    `${code(name)}${former(name)}`,
    readBy.join(", "),
    usual,
    meaning,
  ];
  return page([
    "# Environment variables",
    "Each process reads its variables when it starts. `npm run studio` passes its own environment on to the processes it starts.",
    table(["variable", "read by", "default", "meaning"], product.map(row)),
    "## Development",
    table(["variable", "read by", "default", "meaning"], tests.map(row)),
  ]);
}
