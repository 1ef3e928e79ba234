import type { ObservingPorts } from '../look/observe.ts'
import type { StepPorts } from '../steps/carry-out.ts'
import type {
  ActionRecords,
  DatabaseRecords,
  EndpointProxy,
  EngineConnections,
  NodeAgent,
  ShardRecords,
} from '../turn/ports.ts'

/** What a turn uses of the world, its steps included. Each function that it calls takes its part. */
export type TurnPorts = StepPorts &
  ObservingPorts &
  DatabaseRecords<'get' | 'setObstacle' | 'setHistories'> &
  ActionRecords<'get' | 'active' | 'listActive' | 'update' | 'finish'> &
  ShardRecords<'withReservation' | 'endReservations' | 'limitBefore' | 'setLimitBefore'> &
  NodeAgent<'putLimits' | 'putShardCertificate' | 'readBaseline'> &
  EndpointProxy<'removeEndpoint'> &
  EngineConnections<'connect' | 'acknowledge'>
