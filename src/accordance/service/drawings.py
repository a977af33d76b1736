"""Plans as pictures: nodes, what ties them together, and the state of each node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.violation import Rejected
from accordance.domain.lifecycle import State
from accordance.domain.plan import PlanGraph, plan_graph
from accordance.domain.progress import begin
from accordance.domain.records import PlanRecord
from accordance.errors import LedgerDamaged, NotFound
from accordance.service.plan_intake import check_plan
from accordance.service.project import Project, find_plan
from accordance.service.views.plans import GraphView, NodeView
from accordance.store.ledger import Transaction


class Drawing(NamedTuple):
    """A plan and the states of its tasks, to be drawn."""

    plan: Plan
    graph: PlanGraph
    states: Mapping[str, State]

    def view(self) -> GraphView:
        """Show nodes and edges of each kind."""
        return GraphView(root=self.graph.root, nodes=tuple(self._nodes()))

    def goal(self, name: str) -> str:
        """Return the id of a goal, by its id or its title. Raises NotFound."""
        goals = {}
        for node in self.plan.nodes:
            if self.graph[node.task_id].parts:
                goals[node.task_id] = node.title
        if name in goals:
            return name
        matching = [task_id for task_id, title in goals.items() if title == name]
        if len(matching) != 1:
            raise NotFound("goal", name, goals)
        return matching[0]

    def _nodes(self) -> Iterator[NodeView]:
        for node in self.plan.nodes:
            drawn = self.graph[node.task_id]
            yield NodeView(
                task_id=node.task_id,
                title=node.title,
                node_type=drawn.kind,
                state=self.states[node.task_id],
                combine=drawn.combine if drawn.parts else None,
                parts=drawn.parts,
                prerequisites=drawn.prerequisites,
                checks=drawn.checks,
                alternatives=drawn.rivals,
            )


def draw_new_plan(plan: Plan) -> Drawing:
    """A plan that is in no ledger, with what could begin.

    An alternative that is not the first choice waits: nothing has been given up yet.
    """
    graph = plan_graph(plan)
    states = {}
    for task_id, at in begin(graph).at.items():
        is_later_choice = at.state is State.ABANDONED
        states[task_id] = State.PENDING if is_later_choice else at.state
    return Drawing(plan, graph, states)


def draw_plan(project: Project, name: str | None = None) -> Drawing:
    """A plan in the ledger, as it stands."""
    with project.ledger.read() as tx:
        record = find_plan(tx, name)
        plan = stored_plan(tx, record)
        states = {
            task.task_id: task.progress.state for task in tx.tasks(record.plan_id)
        }
    return Drawing(plan, plan_graph(plan), states)


def stored_plan(tx: Transaction, record: PlanRecord) -> Plan:
    """Return the plan of a record. Raises LedgerDamaged."""
    result = check_plan(tx.blob(record.document))
    if isinstance(result, Rejected):
        raise LedgerDamaged(f"the document of plan {record.plan_id} is no plan")
    return result.value
