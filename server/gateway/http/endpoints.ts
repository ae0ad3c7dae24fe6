import { chatEndpoint } from "./chatEndpoint";
import { completionsEndpoint, embeddingsEndpoint } from "./completionsEndpoint";
import type { Endpoint } from "./endpoint";
import { rerankEndpoint, scoreEndpoint } from "./rankingEndpoints";

/** The endpoints that engines have themselves: those of texts first. */
export const endpoints: readonly Endpoint[] = [chatEndpoint, completionsEndpoint, embeddingsEndpoint, rerankEndpoint, scoreEndpoint];
