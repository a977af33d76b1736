import { useRead } from "../../api/queries";
import { Json, Shown } from "../../kit";

/** The JSON Schema of a contract. */
export function Schema({ contract }: { contract: string }) {
  const schema = useRead("/v1/schemas/{name}", { params: { name: contract } });
  return <Shown query={schema}>{(data) => <Json value={data.schema} label={contract} height={680} />}</Shown>;
}
