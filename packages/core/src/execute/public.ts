export { execute, type ExecuteInput } from './execute.js'
export { type ExecuteResult, botResponse, isBotResponse, type BotResponse } from './answer.js'
export { createBots, type Bots, type HostBot } from './bots.js'
export {
  type BotContext,
  type BotEvent,
  type BotFunction,
  type BotStorage,
  type BotSchemas,
  DEFAULT_BOT_LIMITS,
  type BotLimits,
  type BotRuntime,
} from './bot-function.js'
