/** State that stands in the address, so that a link shows the same. */
import { useSearchParams } from "react-router";

/** A part of the query of the address; an empty one is left out. */
export function useParam(name: string, usual = ""): [string, (value: string) => void] {
  const [search, setSearch] = useSearchParams();
  const set = (value: string) => {
    setSearch(
      (current) => {
        const next = new URLSearchParams(current);
        if (value === "" || value === usual) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  };
  return [search.get(name) ?? usual, set];
}
