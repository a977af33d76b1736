"""The error tree. A bad *message* never raises: it comes back as a value.

Every class has a `code` of its own that never changes, and a `category`, from which a
face takes its exit code or HTTP status. Every error has a `text`, what is wrong, and
may have a `way_out`, what to do about it. docs/errors.md lists them all.

AccordanceError
+-- Unparseable                the text is not a single JSON object (readers only)
+-- UnknownName                a name that is not registered
|   +-- UnknownContract
|   +-- UnknownCode
|   +-- UnknownProfile
|   +-- UnknownRole
|   +-- UnknownExecutor
|   +-- UnknownModel
|   +-- UnknownLabel
|   +-- UnknownPrompt
|   +-- UnknownAgent
|   +-- NotFound               no such plan, task, question or message
|       +-- NoPlan             none was named, and there is none
|           +-- AllArchived    none was named, and all are archived
+-- AmbiguousName              a title or a beginning that fits several things
+-- ContractAlreadyRegistered  the version, scope or name is taken
+-- InvalidContract            a definition that could never work
+-- InvalidContext             a context that does not fit
+-- InvalidPath                a JSON path that cannot be read or followed
+-- InvalidPattern             a pin that could never match safely
+-- NotAccepted                no answer of a model was accepted in all attempts
+-- InvalidTScore              a score that is not a number from 0 to 1
+-- InvalidAgents              a registry of agents that contradicts itself
+-- InvalidGolden              a golden set that cannot be run
+-- InvalidComparator          an expectation that cannot be read
+-- InvalidRun                 an answer without a selection, where answers are counted
+-- InvalidPhases              an unknown level or phase
+-- InvalidSettings            accordance.toml cannot be read, or has an unknown key
|   +-- IsolationTurnedOff     a file asks for less isolation than there is
+-- InvalidRole                a role's policy that cannot be read
+-- InvalidRubric              a rubric whose dimensions do not add up
+-- InvalidFuses               an unknown fuse, or an invalid limit
+-- InvalidRouting             executors or routes that could never work
|   +-- OwnWork                the only reviewer made the product itself
|   +-- NoExecutor             no executor is configured that could do the work
|       +-- NotServedHere      this worker lacks a label, a program or a key
|       +-- NoModel            a model is needed, and none is configured
+-- IllegalTransition          a move that the lifecycle does not have
+-- Conflict                   another process was first, or it is too late
|   +-- AttemptJudged          there is a bundle of that attempt already
|   +-- TasksWait              others wait for a task that is to be cancelled
|   +-- UnfitPlanState         it does not fit the state that a plan is in
|   +-- UnfitTaskState         it does not fit the state that a task is in
|   +-- PlanArchived           nothing can happen to an archived plan
|   +-- PlanChanged            the plan was amended since it was looked at
|   +-- NotRebased             the changes of a plan do not fit its new base
+-- GateNotRun                 a verdict was asked for before every gate had its facts
+-- InvalidTerms               the stored terms of a verdict cannot be read
+-- ContextTooLarge            what an agent must read does not fit
+-- InvalidPlanFile            a plan file that cannot be read as a plan
+-- NotExpressible             a plan says what a format cannot say
+-- NoEvidence                 an attempt has left nothing behind, or not yet
|   +-- EvidenceGone           what it left behind was removed
+-- CannotWrite                a file or a stream cannot be written
+-- BlobError                  a blob could not be kept or read
|   +-- BlobMissing            its bytes are not in the store
|   +-- BlobChanged            its bytes are not those that were kept
|   +-- BlobStoreUnavailable   the store does not answer, or can take nothing
|   |   +-- BlobStoreDenied    it does not accept the credentials
|   |   +-- BlobStoreMissing   there is no such bucket
|   +-- BlobStoreAddress       what the settings name can be no store
|   +-- BlobStoreForeign       it is not the store of this ledger
+-- NotAuthenticated           the key is missing, unknown, revoked or expired
+-- NotAllowed                 the key or the person may not do this
+-- LedgerError                the ledger could not do it; nothing was changed
    +-- LedgerBusy             another process holds it for too long
    +-- LedgerUnavailable      it cannot be opened, read or written
    |   +-- LedgerAddress      the path or URL cannot be that of a ledger
    |   +-- LedgerUnreachable  the database does not answer
    |   +-- LedgerDenied       this user has no access
    +-- LedgerDamaged          something in it was not written by accordance
    +-- LedgerTooOld           it has to be upgraded first
    +-- LedgerMissing          there is none
    +-- LedgerTooNew           it was written by a newer accordance
"""

from __future__ import annotations

from accordance.errors.access import NotAllowed, NotAuthenticated
from accordance.errors.base import (
    AccordanceError,
    Category,
)
from accordance.errors.blobs import (
    BlobChanged,
    BlobError,
    BlobMissing,
    BlobStoreAddress,
    BlobStoreDenied,
    BlobStoreForeign,
    BlobStoreMissing,
    BlobStoreUnavailable,
)
from accordance.errors.contracts import (
    ContractAlreadyRegistered,
    InvalidContext,
    InvalidContract,
    InvalidPath,
    InvalidPattern,
    NotAccepted,
    Unparseable,
)
from accordance.errors.ledger import (
    LedgerAddress,
    LedgerBusy,
    LedgerDamaged,
    LedgerDenied,
    LedgerError,
    LedgerMissing,
    LedgerTooNew,
    LedgerTooOld,
    LedgerUnavailable,
    LedgerUnreachable,
)
from accordance.errors.names import (
    AllArchived,
    AmbiguousName,
    NoPlan,
    NotFound,
    UnknownAgent,
    UnknownCode,
    UnknownContract,
    UnknownExecutor,
    UnknownLabel,
    UnknownModel,
    UnknownName,
    UnknownProfile,
    UnknownPrompt,
    UnknownRole,
    did_you_mean,
    nearest,
)
from accordance.errors.plan_files import (
    InvalidPlanFile,
    NotExpressible,
)
from accordance.errors.research import (
    InvalidAgents,
    InvalidComparator,
    InvalidGolden,
    InvalidPhases,
    InvalidRun,
    InvalidTScore,
)
from accordance.errors.settings import (
    InvalidFuses,
    InvalidRole,
    InvalidRouting,
    InvalidRubric,
    InvalidSettings,
    IsolationTurnedOff,
    NoExecutor,
    NoModel,
    NotServedHere,
    OwnWork,
)
from accordance.errors.work import (
    AttemptJudged,
    CannotWrite,
    Conflict,
    ContextTooLarge,
    EvidenceGone,
    GateNotRun,
    IllegalTransition,
    InvalidTerms,
    NoEvidence,
    NotRebased,
    PlanArchived,
    PlanChanged,
    TasksWait,
    UnfitPlanState,
    UnfitTaskState,
)

__all__ = [
    "AccordanceError",
    "AllArchived",
    "AmbiguousName",
    "AttemptJudged",
    "BlobChanged",
    "BlobError",
    "BlobMissing",
    "BlobStoreAddress",
    "BlobStoreDenied",
    "BlobStoreForeign",
    "BlobStoreMissing",
    "BlobStoreUnavailable",
    "CannotWrite",
    "Category",
    "Conflict",
    "ContextTooLarge",
    "ContractAlreadyRegistered",
    "EvidenceGone",
    "GateNotRun",
    "IllegalTransition",
    "InvalidAgents",
    "InvalidComparator",
    "InvalidContext",
    "InvalidContract",
    "InvalidFuses",
    "InvalidGolden",
    "InvalidPath",
    "InvalidPattern",
    "InvalidPhases",
    "InvalidPlanFile",
    "InvalidRole",
    "InvalidRouting",
    "InvalidRubric",
    "InvalidRun",
    "InvalidSettings",
    "InvalidTScore",
    "InvalidTerms",
    "IsolationTurnedOff",
    "LedgerAddress",
    "LedgerBusy",
    "LedgerDamaged",
    "LedgerDenied",
    "LedgerError",
    "LedgerMissing",
    "LedgerTooNew",
    "LedgerTooOld",
    "LedgerUnavailable",
    "LedgerUnreachable",
    "NoEvidence",
    "NoExecutor",
    "NoModel",
    "NoPlan",
    "NotAccepted",
    "NotAllowed",
    "NotAuthenticated",
    "NotExpressible",
    "NotFound",
    "NotRebased",
    "NotServedHere",
    "OwnWork",
    "PlanArchived",
    "PlanChanged",
    "TasksWait",
    "UnfitPlanState",
    "UnfitTaskState",
    "UnknownAgent",
    "UnknownCode",
    "UnknownContract",
    "UnknownExecutor",
    "UnknownLabel",
    "UnknownModel",
    "UnknownName",
    "UnknownProfile",
    "UnknownPrompt",
    "UnknownRole",
    "Unparseable",
    "did_you_mean",
    "nearest",
]
