import { readdirSync, readFileSync } from "node:fs";

/** A group of pages of one folder. */
const section = (text, folder, pages, collapsed = false) => ({
  text,
  collapsed,
  items: pages.map(([name, title]) => ({ text: title, link: `/${folder}/${name}` })),
});

const notesFolder = new URL("../how-it-works/notes/", import.meta.url);
/** Notes on single rooms, by their own headings. */
const notes = readdirSync(notesFolder)
  .filter((file) => file.endsWith(".md"))
  .map((file) => [file.slice(0, -3), /^# (.+)$/m.exec(readFileSync(new URL(file, notesFolder), "utf8"))?.[1] ?? file]);

/** The pages in the order a newcomer reads them. */
export const sidebar = [
  section("Start", "start", [["ten-minutes", "Ten minutes to a plan in force"]]),
  section("Concepts", "concepts", [
    ["cascade", "Cascade"],
    ["judge", "Judge and confidence"],
    ["quality-floor", "Quality floor"],
    ["frontier", "Frontier"],
    ["policy", "Policy"],
    ["workflow", "Workflow"],
    ["ensemble", "Ensemble"],
    ["security", "Security"],
  ]),
  section("Guides", "guides", [
    ["real-models", "Real models on this computer"],
    ["attach-vllm", "Attach your vLLM"],
    ["attach-at-home", "Attach llama.cpp or Ollama"],
    ["import-a-workload", "Import a workload"],
    ["profile-prompts", "Profile your own prompts"],
    ["gates", "Compare gates"],
    ["plan", "Plan"],
    ["apply", "Apply"],
    ["roll-back", "Roll back"],
    ["watch", "Watch"],
    ["observability", "Prometheus, Grafana, OpenTelemetry"],
    ["audit", "Audit"],
    ["calibrate", "Calibrate"],
    ["processes", "Local processes"],
    ["real-engine", "A real engine on this computer"],
    ["kubernetes", "Kubernetes"],
    ["ray", "Ray Serve"],
    ["clients", "Clients"],
    ["agents", "Agents and workflows"],
    ["ensembles", "Ensembles"],
    ["gateway-settings", "Keys, limits and the judge"],
    ["several-gateways", "Several gateways"],
    ["hosted-models", "Hosted models"],
    ["errors", "Errors and retries"],
    ["sign-in", "Sign-in and roles"],
    ["people-and-keys", "People and keys"],
    ["tls-and-proxies", "TLS and reverse proxies"],
    ["reproduce", "Measure published figures again"],
  ]),
  section("Reference", "reference", [
    ["command-line", "Command line"],
    ["configuration", "Configuration and plan schema"],
    ["http-api", "HTTP API"],
    ["headers", "Headers"],
    ["metrics", "Metrics"],
    ["environment", "Environment variables"],
  ]),
  section("How it works", "how-it-works", [
    ["overview", "Overview"],
    ["cascadia", "Cascadia"],
    ["chimera", "Chimera"],
    ["aragog", "Aragog"],
    ["kairos", "Kairos"],
    ["mosaic", "MOSAIC"],
    ["joint", "One policy for all"],
    ["measuring", "Measuring an engine"],
  ]),
  section("Notes on rooms", "how-it-works/notes", notes, true),
  section(
    "Design decisions",
    "decisions",
    [
      ["01-policies-are-shared", "1. Policies are pure and shared"],
      ["02-two-milp-engines", "2. glpk.js and HiGHS behind one interface"],
      ["03-exact-bisection", "3. Bisection for sliders, MILP for constraints"],
      ["04-approval-by-hash", "4. Approvals are bound to a hash"],
      ["05-no-http-framework", "5. The gateway is plain node:http and undici"],
      ["06-processes", "6. Three processes that talk HTTP"],
      ["07-sqlite", "7. SQLite through Drizzle"],
      ["08-emulated-is-called-emulated", "8. Emulated engines are called emulated"],
      ["09-missing-is-not-zero", "9. Missing telemetry is absent, never zero"],
      ["10-floor-is-a-bound", "10. The quality floor holds for a bound"],
      ["11-judged-score-and-label", "11. Judged score and label are two readings"],
      ["12-kinds-not-sentences", "12. Decisions read kinds, never sentences"],
      ["13-one-policy", "13. One policy, with a short way where nothing is chosen"],
      ["14-several-gateways", "14. Several gateways count together"],
    ],
    true,
  ),
];
