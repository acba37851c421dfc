import type { Answer } from '../../http/answer.js'
import type { HttpRequest } from '../../http/http-request.js'
import type { Call } from '../../routes/route.js'
import type { WritePlan } from '../write-plan.js'

/** Answers one request within another: same caller, same turn, same time limit. It never rejects. */
export type ServePart = (request: HttpRequest, call: Call) => Promise<Answer>

/** Plans one write within another request. @throws {OperationError} as its route; `not-supported` for what is not a write. */
export type PlanPart = (request: HttpRequest, call: Call) => Promise<PlannedWrite>

/** A write that is not yet carried out, with the request that it is for. */
export interface PlannedWrite {
  readonly call: Call
  readonly plan: WritePlan
}

/** How entries of Bundles are answered by the route table. */
export interface PartRunner {
  readonly serve: ServePart
  readonly plan: PlanPart
}
