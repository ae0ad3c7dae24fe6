/**
 * A page of metrics as Python's client library writes it: the bounds of buckets are floats, and each counter and histogram is followed by
 * the time at which its series began.
 * @param page in Prometheus' text format, with the bounds as JavaScript writes them.
 * @param beganSeconds Unix time.
 */
export function pythonExposition(page: string, beganSeconds: number): string {
  const families = page.split(/^(?=# HELP )/m).map((family) => family.trim());
  const lines = families.flatMap((family) => (family === "" ? [] : [family, ...createdSeries(family, beganSeconds)]));
  // A bound of another spelling is another series to Prometheus.
  return `${lines.join("\n").replaceAll(/le="(\d+)"/g, 'le="$1.0"')}\n`;
}

function createdSeries(family: string, beganSeconds: number): readonly string[] {
  const [, name = "", help = "", type = ""] = /^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)/.exec(family) ?? [];
  if (type !== "counter" && type !== "histogram") return [];
  const made = `${type === "counter" ? name.replace(/_total$/, "") : name}_created`;
  const series = type === "counter" ? name : `${name}_count`;
  const labels = family
    .split("\n")
    .filter((line) => line.startsWith(`${series}{`))
    .map((line) => line.slice(series.length, line.lastIndexOf("}") + 1));
  return [`# HELP ${made} ${help}`, `# TYPE ${made} gauge`, ...labels.map((one) => `${made}${one} ${beganSeconds}`)];
}
