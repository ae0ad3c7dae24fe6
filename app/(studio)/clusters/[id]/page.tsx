import { redirect } from "next/navigation";

/** The page of one cluster: the Clusters page shows all of its details. */
export default async function ClusterPage({ params }: { readonly params: Promise<{ readonly id: string }> }) {
  const { id } = await params;
  redirect(`/clusters?show=${encodeURIComponent(id)}`);
}
