/** Reading and acting through TanStack Query. The key of a query is its route. */
import {
  keepPreviousData,
  type QueryKey,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";

import {
  type Answer,
  type ApiProblem,
  get,
  type GetOptions,
  type GetPath,
  post,
  type PostAnswer,
  type PostOptions,
  type PostPath,
} from "./client";

export interface ReadOptions {
  readonly enabled?: boolean;
  readonly keepPrevious?: boolean; // show the last answer while a filter changes
  readonly refetchInterval?: number;
}

/** Read a route; live events make it fresh again. */
export function useRead<P extends GetPath>(
  path: P,
  options: Omit<GetOptions<P>, "signal">,
  { enabled = true, keepPrevious = false, refetchInterval }: ReadOptions = {},
) {
  return useQuery<Answer<P>, ApiProblem>({
    queryKey: keyOf(path, options),
    queryFn: ({ signal }) => get(path, { ...options, signal } as GetOptions<P>),
    enabled,
    ...(refetchInterval !== undefined && { refetchInterval }),
    ...(keepPrevious && { placeholderData: keepPreviousData as never }),
  });
}

type PagedPath = {
  [P in GetPath]: Answer<P> extends { items: readonly unknown[]; next?: string | null } ? P : never;
}[GetPath];

/** Read a list by pages: `items` has all that were read, `more` reads the next. */
export function usePages<P extends PagedPath>(
  path: P,
  options: Omit<GetOptions<P>, "signal">,
  { enabled = true }: ReadOptions = {},
) {
  type Page = Answer<P> & { items: readonly unknown[]; next?: string | null };
  type Item = Page["items"][number];
  const query = useInfiniteQuery<Page, ApiProblem, { pages: Page[] }, QueryKey, string | null>({
    queryKey: [...keyOf(path, options), "pages"],
    queryFn: ({ signal, pageParam }) => {
      const further = { ...(options.query as object), ...(pageParam && { cursor: pageParam }) };
      return get(path, {
        ...options,
        query: further,
        signal,
      } as unknown as GetOptions<P>) as Promise<Page>;
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next ?? null,
    enabled,
    placeholderData: keepPreviousData,
  });
  const items = query.data?.pages.flatMap((page) => page.items as readonly Item[]) ?? [];
  return { ...query, items, more: query.fetchNextPage, hasMore: query.hasNextPage };
}

/** Act on a route. What the act may have changed is read again. */
export function useAct<P extends PostPath>(path: P) {
  const client = useQueryClient();
  return useMutation<PostAnswer<P>, ApiProblem, PostOptions<P>>({
    mutationFn: (options) => post(path, options),
    onSettled: () => client.invalidateQueries({ predicate: ({ queryKey }) => isLive(queryKey) }),
  });
}

export function keyOf(path: string, options: { params?: unknown; query?: unknown }): QueryKey {
  return [path, options.params ?? {}, options.query ?? {}];
}

/** What no event changes; a layout changes with the revision of its plan, and is asked for by it. */
const NOT_LIVE = [
  "/v1/plans/{plan}/layout",
  "/v1/me",
  "/v1/meta",
  "/v1/schemas",
  "/v1/errors",
  "/auth",
];

export function isLive(queryKey: QueryKey): boolean {
  const path = String(queryKey[0]);
  return !NOT_LIVE.some((start) => path.startsWith(start));
}
