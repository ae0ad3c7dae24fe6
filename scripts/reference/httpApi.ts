import { z } from "zod";
import { adminRoutes, dataRoutes } from "./gatewayRoutes";
import { code, page, plain, table } from "./markdown";
import { openApiDocument, type Route } from "./openApi";
import { studioRoutes } from "./studioRoutes";

const openAiError = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }),
});
const bearer = { bearer: { type: "http", scheme: "bearer" } };

const apis = () => [
  {
    file: "gateway.openapi.json",
    heading: "Gateway: data port (4610)",
    title: "Weir gateway",
    description: "The OpenAI-compatible API of a gateway. A key is needed where the settings have keys.",
    url: "http://127.0.0.1:4610",
    security: bearer,
    error: openAiError,
    routes: dataRoutes,
  },
  {
    file: "gateway-admin.openapi.json",
    heading: "Gateway: admin port (4611)",
    title: "Weir gateway, admin API",
    description: "Configuration, controls and records of a gateway. The bearer token is WEIR_ADMIN_TOKEN.",
    url: "http://127.0.0.1:4611",
    security: bearer,
    error: openAiError,
    routes: adminRoutes,
  },
  {
    file: "studio.openapi.json",
    heading: "Studio (4600)",
    title: "Weir studio",
    description:
      "The studio's own API, made for its pages. It needs an API token, or the session cookie of a sign-in link with the header `x-weir-page-token`.",
    url: "http://127.0.0.1:4600",
    security: { session: { type: "apiKey", in: "cookie", name: "weir_session" }, ...bearer },
    error: z.looseObject({}),
    routes: studioRoutes(),
  },
];

/** The OpenAPI documents by file name, and the page with a table of each. */
export function httpApi(): { readonly page: string; readonly documents: Readonly<Record<string, Record<string, unknown>>> } {
  const all = apis();
  const rows = (routes: readonly Route[]): string =>
    table(
      ["method", "path", "what it does"],
      routes.map(({ method, path, says }) => [method.toUpperCase(), code(path), plain(says)]),
    );
  return {
    page: page([
      "# HTTP API",
      "The OpenAPI 3.1 documents hold bodies, answers and parameters. They are made of the schemas that the routes validate with.",
      ...all.flatMap(({ heading, description, file, routes }) => [
        `## ${heading}`,
        `${description} OpenAPI: <a href="/docs/reference/${file}" target="_self">${file}</a>.`,
        rows(routes),
      ]),
    ]),
    documents: Object.fromEntries(all.map(({ file, heading: _, ...api }) => [file, openApiDocument(api)])),
  };
}
