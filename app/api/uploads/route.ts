import { surveyUpload, uploadKinds } from "@/server/api/surveyUpload";
import { routeAccess } from "@/server/routeAccess";
import { runtime } from "@/server/runtime";
import { maxPromptBytes, maxUploadBytes, tooLarge } from "@/server/store/uploads";

export const dynamic = "force-dynamic";

const refuse = (status: number, message: string): Response => Response.json({ message }, { status });

/**
 * Takes one file as the raw body: `?kind=<one of uploadKinds>&name=<file name>`. Answers with a survey of it, or the reason for refusal.
 */
export async function POST(request: Request): Promise<Response> {
  const access = routeAccess(request, "prepare");
  if (!access.ok) return access.refusal;
  const { uploads, cards } = runtime();
  const query = new URL(request.url).searchParams;
  const asked = query.get("kind");
  const kind = uploadKinds.find((known) => known === asked);
  const name = query.get("name")?.slice(0, 200) || "the file";
  if (kind === undefined) return refuse(400, `kind is ${asked}: use one of ${uploadKinds.join(", ")}.`);
  if (request.body === null) return refuse(400, `${name} is empty.`);
  const mostBytes = kind === "prompts" ? maxPromptBytes : maxUploadBytes;
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes) return refuse(413, tooLarge(name, mostBytes));
  const saved = await uploads.save(request.body, name, mostBytes);
  if (!saved.ok) return refuse(413, saved.message);
  const survey = await surveyUpload({ uploads, id: saved.id, kind, cards: cards.read().catalogue, signal: request.signal });
  return survey.ok ? Response.json({ uploadId: saved.id, survey }) : refuse(422, survey.message);
}
