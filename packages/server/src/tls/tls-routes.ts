import { deleteCertificate, getCertificates, operatorOperations, updateCertificate } from '@fairlead/api'
import { actorOf } from '../core/identity/access.ts'
import type { Mount } from '../http/mount.ts'
import type { Tls, TlsNow } from './tls-service.ts'

/** Serves the TLS certificates; private keys are taken and never answered. */
export function tlsRoutes(mount: Mount, tls: Tls): void {
  mount(getCertificates, async () => toWire(await tls.current()))

  mount(updateCertificate, async ({ body: { certificate, key } }, caller) =>
    toWire(await tls.replace({ cert: certificate, key }, actorOf(caller))),
  )

  mount(deleteCertificate, async (_, caller) => toWire(await tls.reset(actorOf(caller))))
}

/** For whoever has the machine. */
export function operatorTlsRoutes(mount: Mount, tls: Tls): void {
  mount(operatorOperations.getCertificates, async () => toWire(await tls.current()))
}

/** What the world may know: no key. */
function toWire({ ca, proxy }: TlsNow) {
  return { ca_cert: ca, proxy_cert: proxy.cert }
}
