#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* TLS 1.2 at least, no renegotiation, nothing kept to resume by, and no buffer kept by who is idle; 1, or 0
 * where the library cannot. */
static inline int alina_harden(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  return SSL_CTX_set_num_tickets(context, 0) == 1 && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}

/* Names the host we want in the clear, as several may live at one address. */
static inline int alina_name_server(SSL *ssl, const char *host) { return SSL_set_tlsext_host_name(ssl, host); }

/* Shows one more certificate behind one's own. */
static inline int alina_show_also(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add1_chain_cert(context, certificate);
}
