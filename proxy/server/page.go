package server

import (
	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/proxy/page"
)

// addTryPage adds the page at / and its files.
func (s *Server) addTryPage() {
	for _, file := range page.Files() {
		s.addPage(route{path: file.Path, handle: func(x *exchange) error {
			header := &x.ctx.Response.Header
			header.SetContentType(file.ContentType)
			header.Set(fasthttp.HeaderContentSecurityPolicy, page.Policy)
			header.Set(fasthttp.HeaderXContentTypeOptions, "nosniff")
			header.Set(fasthttp.HeaderReferrerPolicy, "no-referrer")
			header.Set(fasthttp.HeaderCacheControl, "no-cache") // a new version of the server has a new page
			x.ctx.Response.SetBodyRaw(file.Body)
			return nil
		}})
	}
}
