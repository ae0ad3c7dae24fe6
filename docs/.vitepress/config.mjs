// The documentation site: VitePress builds docs/ into dist/docs, which the studio serves under /docs.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { sidebar } from "./sidebar.mjs";

const inRepository = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export default defineConfig({
  title: "Weir",
  description: "Plan, apply and watch LLM cascades on your own GPUs.",
  base: "/docs/",
  cleanUrls: true,
  outDir: inRepository("dist/docs"),
  // Below node_modules, so that it is neither committed nor taken for a source.
  cacheDir: inRepository("docs/node_modules/.vitepress"),
  head: [["link", { rel: "icon", href: "/docs/weir.svg", type: "image/svg+xml" }]],
  themeConfig: {
    logo: "/weir.svg",
    // The index is a file of the site: search needs no network.
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Start", link: "/start/ten-minutes", activeMatch: "/start/" },
      { text: "Guides", link: "/guides/attach-vllm", activeMatch: "/guides/" },
      { text: "Reference", link: "/reference/command-line", activeMatch: "/reference/" },
    ],
    sidebar,
    docFooter: { prev: "Previous page", next: "Next page" },
  },
});
