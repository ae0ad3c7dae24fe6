import { commandLinePage } from "./commandLine";
import { environmentPage } from "./environment";
import { headersPage } from "./headers";
import { httpApi } from "./httpApi";
import { metricsPage } from "./metrics";
import { schemaFiles } from "./schemas";

/** Every file of the reference by its path in the repository at `root`. */
export async function referenceFiles(root: string): Promise<ReadonlyMap<string, string>> {
  const http = httpApi();
  const schemas = schemaFiles(root);
  const pages = {
    "command-line": commandLinePage(),
    configuration: schemas.page,
    "http-api": http.page,
    headers: headersPage(),
    metrics: await metricsPage(),
    environment: environmentPage(),
  };
  const documents = Object.entries(http.documents).map(([name, document]) => [name, `${JSON.stringify(document, null, 1)}\n`] as const);
  return new Map([
    ...Object.entries(pages).map(([name, text]) => [`docs/reference/${name}.md`, text] as const),
    ...[...Object.entries(schemas.files), ...documents].map(([name, text]) => [`docs/public/reference/${name}`, text] as const),
  ]);
}
