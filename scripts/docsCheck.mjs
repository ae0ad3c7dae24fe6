// `npm run docs:check`: opens every page of the built documentation in Chromium, light and dark, and fails on an error in the
// browser's console and on a link within the site whose page, file or heading does not exist.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { checkNode, ensureDocsBuilt, ensureInstalled, refuse, root, say } from "./prepare.mjs";

checkNode();
ensureInstalled();
if (!(await ensureDocsBuilt())) refuse("The documentation did not build; see above.");
const { chromium } = await import("@playwright/test");

const folder = join(root, "dist", "docs");
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png" };
const pages = readdirSync(folder, { recursive: true })
  .filter((file) => file.endsWith(".html") && file !== "404.html")
  .map((file) => file.slice(0, -".html".length));
const headings = new Map();
const links = [];
const problems = [];

const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url.split("?")[0]).replace(/^\/docs\/?/, "") || "index";
  const file = [join(folder, path), join(folder, `${path}.html`)].find((each) => existsSync(each) && statSync(each).isFile());
  if (file === undefined) response.writeHead(404).end();
  else response.writeHead(200, { "content-type": types[extname(file)] ?? "text/plain" }).end(readFileSync(file));
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
for (const colorScheme of ["light", "dark"]) await open(colorScheme);
await browser.close();
server.close();
for (const [page, link] of links) if (!leadsSomewhere(page, link)) problems.push(`${page}: the link ${link} leads nowhere`);
for (const problem of problems) say(problem);
say(`${pages.length} pages, ${links.length} links, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

/** Opens every page in one colour scheme, and collects its headings and links. */
async function open(colorScheme) {
  const page = await browser.newPage({ colorScheme });
  let current = "";
  page.on("pageerror", (error) => problems.push(`${current}, ${colorScheme}: ${error.message}`));
  page.on("console", (line) => line.type() === "error" && problems.push(`${current}, ${colorScheme}: ${line.text()}`));
  for (current of pages) {
    await page.goto(`http://127.0.0.1:${server.address().port}/docs/${current === "index" ? "" : current}`);
    await page.waitForSelector("h1");
    headings.set(current, new Set(await page.$$eval("[id]", (elements) => elements.map(({ id }) => id))));
    if (colorScheme === "dark") continue;
    const found = await page.$$eval(".VPContent a[href]", (elements) => elements.map((element) => element.getAttribute("href")));
    links.push(...found.filter((link) => /^(\/docs\/|#)/.test(link)).map((link) => [current, link]));
  }
  await page.close();
}

function leadsSomewhere(from, link) {
  const [path, heading] = link.startsWith("#") ? [from, link.slice(1)] : link.split("#");
  const target = path.replace(/^\/docs\//, "").replace(/\/$/, "") || "index";
  if (!pages.includes(target)) return existsSync(join(folder, target));
  return heading === undefined || heading === "" || headings.get(target).has(decodeURIComponent(heading));
}
