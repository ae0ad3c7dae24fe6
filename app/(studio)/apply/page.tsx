import { redirect } from "next/navigation";

interface Props {
  readonly searchParams: Promise<Readonly<Record<string, string | readonly string[] | undefined>>>;
}

/** Without a plan: to where one is chosen. */
export default async function ApplyPage({ searchParams }: Props) {
  const { cluster } = await searchParams;
  redirect(typeof cluster === "string" ? `/history?cluster=${encodeURIComponent(cluster)}` : "/history");
}
