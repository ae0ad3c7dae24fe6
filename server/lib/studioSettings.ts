import { join } from "node:path";

/** The studio's settings from its environment. The other processes listen on the loopback address of the same machine. */
export interface StudioSettings {
  readonly stateDir: string;
  readonly studioUrl: string;
  readonly gatewayUrl: string;
  readonly gatewayAdminUrl: string;
  readonly emulatorUrl: string;
  readonly adminToken: string;
  /** How often engines, GPUs and the gateway are asked. */
  readonly scrapeIntervalMs: number;
  /** Whether a launcher runs the studio and starts and ends gateways for it. */
  readonly isLaunched: boolean;
  /** A Prometheus server as the source of series, instead of the studio's own store; null: there is none. */
  readonly prometheus: { readonly url: string; readonly bearer?: string; readonly scrapeSeconds: number } | null;
}

/** Faster tells little more of engines, whose figures are of the last step; slower hides what comes and goes. */
const SCRAPE_SECONDS = { least: 0.5, usual: 1, most: 5 };

/** Prometheus' default scrape interval. */
const USUAL_SCRAPE_SECONDS = 15;

/** Reads the settings; addresses follow from ports unless they are given whole. */
export function studioSettings(environment: Readonly<Record<string, string | undefined>>): StudioSettings {
  const url = (name: string, portName: string, usualPort: number, scheme = "http"): string =>
    environment[name] ?? `${scheme}://127.0.0.1:${environment[portName] ?? usualPort}`;
  return {
    stateDir: environment.WEIR_STATE_DIR ?? join(environment.WEIR_ROOT ?? process.cwd(), ".weir"),
    studioUrl: url("WEIR_STUDIO_URL", "WEIR_STUDIO_PORT", 4600, environment.WEIR_TLS_CERT_FILE ? "https" : "http"),
    gatewayUrl: url("WEIR_GATEWAY_URL", "WEIR_GATEWAY_PORT", 4610),
    gatewayAdminUrl: url("WEIR_GATEWAY_ADMIN_URL", "WEIR_GATEWAY_ADMIN_PORT", 4611),
    emulatorUrl: url("WEIR_EMULATOR_URL", "WEIR_EMULATOR_PORT", 4620),
    adminToken: environment.WEIR_ADMIN_TOKEN ?? "",
    scrapeIntervalMs: 1000 * scrapeSecondsOf(environment),
    isLaunched: environment.WEIR_LAUNCHED === "1",
    prometheus: prometheusOf(environment),
  };
}

function scrapeSecondsOf({ WEIR_SCRAPE_SECONDS: every = "" }: Readonly<Record<string, string | undefined>>): number {
  const seconds = Number(every);
  return seconds >= SCRAPE_SECONDS.least ? Math.min(SCRAPE_SECONDS.most, seconds) : SCRAPE_SECONDS.usual;
}

function prometheusOf(environment: Readonly<Record<string, string | undefined>>): StudioSettings["prometheus"] {
  const { WEIR_PROMETHEUS_URL: url = "", WEIR_PROMETHEUS_TOKEN: bearer = "", WEIR_PROMETHEUS_SCRAPE_SECONDS: every = "" } = environment;
  if (url === "") return null;
  const scrapeSeconds = Number(every);
  return {
    url: url.replace(/\/+$/, ""),
    ...(bearer === "" ? {} : { bearer }),
    scrapeSeconds: Number.isInteger(scrapeSeconds) && scrapeSeconds > 0 ? scrapeSeconds : USUAL_SCRAPE_SECONDS,
  };
}
