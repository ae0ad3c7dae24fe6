import { readdirSync, readFileSync } from "node:fs";
import { z } from "zod";

const folder = "public/grafana";
const datasource = z.object({ type: z.literal("prometheus"), uid: z.literal("$" + "{datasource}") });

const targetSchema = z.object({ refId: z.string().regex(/^[A-Z]$/), datasource, expr: z.string().min(1), legendFormat: z.string().min(1) });

/** A panel of the kinds that the dashboards use, with what Grafana needs to draw it. */
const panelSchema = z.strictObject({
  id: z.int().positive(),
  type: z.enum(["timeseries", "stat"]),
  title: z.string().min(1),
  description: z.string().min(1),
  datasource,
  gridPos: z.strictObject({ h: z.int(), w: z.int().max(24), x: z.int().min(0).max(23), y: z.int().min(0) }),
  fieldConfig: z.object({
    defaults: z.object({ unit: z.enum(["s", "reqps", "percentunit", "short", "cps", "currencyUSD"]) }),
    overrides: z.array(z.never()),
  }),
  options: z.record(z.string(), z.unknown()),
  targets: z.array(targetSchema).min(1),
});

/** The members of Grafana's dashboard model that the files have. */
const dashboardSchema = z.strictObject({
  title: z.string().startsWith("Weir: "),
  uid: z.string().regex(/^weir-[a-z]+$/),
  description: z.string().min(1),
  tags: z.array(z.string()),
  schemaVersion: z.literal(39),
  version: z.int(),
  editable: z.boolean(),
  graphTooltip: z.literal(1),
  refresh: z.string(),
  time: z.object({ from: z.string(), to: z.string() }),
  timezone: z.literal("browser"),
  templating: z.object({
    list: z.array(z.object({ name: z.literal("datasource"), type: z.literal("datasource"), query: z.literal("prometheus") })),
  }),
  links: z.array(z.object({ type: z.literal("dashboards"), tags: z.array(z.string()) })),
  panels: z.array(panelSchema).max(15),
});

/** The dashboards for Grafana that Weir ships, by the name of their file. */
export const dashboards = readdirSync(folder).map((file) => ({
  file,
  ...dashboardSchema.parse(JSON.parse(readFileSync(`${folder}/${file}`, "utf8"))),
}));

/** Their expressions, with the panel of each. */
export const expressions = dashboards.flatMap(({ uid, panels }) =>
  panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ panel: `${uid}: ${title}`, expr }))),
);

/** An expression over the given time in place of Grafana's. */
export const over = (expr: string, range: string): string => expr.replaceAll("$__rate_interval", range);
