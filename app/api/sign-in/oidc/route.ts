import { notServed, oidcStep } from "./oidcStep";

export const dynamic = "force-dynamic";

/** Sends the browser to the OpenID provider. */
export const GET = (request: Request): Promise<Response> => oidcStep(request, (oidc) => oidc.begin());

/** Next would run GET for it. */
export const HEAD = notServed;
