import { notServed, oidcStep } from "../oidcStep";

export const dynamic = "force-dynamic";

/** Takes the OpenID provider's answer and sends the browser on to the sign-in page. */
export const GET = (request: Request): Promise<Response> =>
  oidcStep(request, (oidc) => oidc.finish(new URL(request.url).search, request.headers.get("cookie")));

/** Next would run GET for it, and the answer's code would be used up. */
export const HEAD = notServed;
